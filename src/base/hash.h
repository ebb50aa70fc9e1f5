// SPDX-License-Identifier: Apache-2.0
//
// A number for a text, by which it is found and distinguished: FNV-1a. It is the same in every
// process and every release: logs, and marks of processes, have it. Nothing is ordered by it.
#pragma once

#include <cstdint>
#include <string_view>

namespace berth::base {

inline constexpr std::uint64_t kHashOfNothing = 14695981039346656037U;

constexpr std::uint64_t hash(std::string_view text, std::uint64_t before = kHashOfNothing) {
    for (const char letter : text) {
        before = (before ^ static_cast<unsigned char>(letter)) * 1099511628211U;
    }
    return before;
}

constexpr std::uint64_t hash(std::int64_t number, std::uint64_t before) {
    return (before ^ static_cast<std::uint64_t>(number)) * 1099511628211U;
}

}  // namespace berth::base
