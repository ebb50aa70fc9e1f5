// SPDX-License-Identifier: Apache-2.0
//
// Which part of a GPU's time is each of the tenants entitled to that use it now? First its share;
// where more was promised than there is, all shares shrink alike. What is left goes to the highest
// priority by weight, up to each tenant's cap, and what the caps leave to the next priority.
#pragma once

#include <cstdint>
#include <vector>

namespace berth::vgpu::windows {

inline constexpr std::int64_t kWhole = 1'000'000;  // of a GPU's time

// What a tenant was promised of one GPU's time, in thousandths of it.
struct Claim {
    std::int32_t share = 0;   // guaranteed whenever it has work
    std::int32_t cap = 1000;  // never more, even where no other tenant wants it
    std::int32_t weight = 1;  // its part of what is left, against others; at least 1
    std::int32_t priority = 0;

    bool operator==(const Claim&) const = default;
};

// Parts of kWhole in the order of `claims`; their sum is kWhole, or less where all are capped.
std::vector<std::int64_t> entitlements(const std::vector<Claim>& claims);

}  // namespace berth::vgpu::windows
