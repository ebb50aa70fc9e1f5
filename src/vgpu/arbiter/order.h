// SPDX-License-Identifier: Apache-2.0
//
// What does an owner tell its arbiter? One line of words, answered by one text:
//
//   tenant NAME gpus=UUID[:MEMORY],... [TERM=VALUE ...]   make it, or give it these terms anew
//   set NAME TERM=VALUE ...                               change some terms of a tenant
//   drop NAME                                             forget a tenant without processes
//   status [NAME]                                         a line for each tenant and GPU
//
// TERM: memory=40G (each GPU), context=500M, managed=allow|refuse, share=0.25, cap=1, weight=1,
// priority=0, uid=1000. An answer begins with "ok" or with "error: ".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::vgpu::arbiter {

inline constexpr std::size_t kOrderMax = 4096;  // bytes of a line
inline constexpr std::size_t kNameMax = 64;

enum class Verb { tenant, set, drop, status };

struct GpuWish {
    std::string uuid;
    std::optional<std::uint64_t> memory;  // bytes

    bool operator==(const GpuWish&) const = default;
};

struct Order {
    Verb verb = Verb::status;
    std::string name;  // of a tenant; may be empty for status
    std::vector<GpuWish> gpus;
    std::optional<std::uint64_t> memory;   // bytes on each GPU
    std::optional<std::uint64_t> context;  // bytes that a process pays for its context
    std::optional<bool> managed;
    std::optional<std::int32_t> share;  // thousandths
    std::optional<std::int32_t> cap;    // thousandths
    std::optional<std::int32_t> weight;
    std::optional<std::int32_t> priority;
    std::optional<std::uint32_t> uid;
};

// Errors: Invalid, saying which word it was and what would do.
base::Result<Order> read_order(std::string_view line);

}  // namespace berth::vgpu::arbiter
