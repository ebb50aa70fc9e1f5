// SPDX-License-Identifier: Apache-2.0
//
// What does an owner tell its arbiter? One line of words, answered by one text:
//
//   tenant NAME gpus=UUID[:MEMORY],... [TERM=VALUE ...]   make it, or give it these terms anew, or
//                                                         other GPUs in the place of those it has
//   set NAME TERM=VALUE ...                               change some terms of a tenant
//   narrow NAME gpus=UUID:MEMORY,...                      lower limits of memory, all or none: it
//                                                         is refused where more is in use
//   rotation NAME memory=40G [policy=fair]                make or change one for tenants
//   drop NAME                                             forget a tenant without processes
//   status [NAME]                                         a line for each tenant and GPU
//
// TERM: memory=40G (each GPU), context=500M, managed=allow|refuse, share=0.25, cap=1, weight=1,
// priority=0, uid=1000; in a rotation also rotation=NAME, and what is known of such jobs:
// persistent=2G, peak=9G, expected=3h of device time. park=30m: reported after this time without a
// call. escaped=UUID:MEMORY,...: what processes of it hold beside its share, which counts as its.
// MEMORY: 12G, none (no limit), or 12G..20G/79G: promised 12G, at most 20G, of a GPU whose tenants
// have 79G together. An answer begins with "ok" or with "error: ".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "vgpu/windows/rotation.h"

namespace berth::vgpu::arbiter {

inline constexpr std::size_t kOrderMax = 4096;  // bytes of a line
inline constexpr std::size_t kNameMax = 64;

enum class Verb { tenant, set, narrow, rotation, drop, status };

struct GpuWish {
    std::string uuid;
    std::optional<std::uint64_t> memory = {};  // bytes that it is promised
    std::optional<std::uint64_t> burst = {};  // that it has at most; none: what it is promised
    std::optional<std::uint64_t> capacity = {};  // of the GPU, for all its tenants; with burst

    bool operator==(const GpuWish&) const = default;
};

struct Order {
    Verb verb = Verb::status;
    std::string name;  // of a tenant or rotation; may be empty for status
    std::vector<GpuWish> gpus;
    std::optional<std::uint64_t> memory;  // bytes on each GPU
    std::optional<std::uint64_t> context;  // bytes that a process pays for its context
    std::optional<bool> managed;
    std::optional<std::int32_t> share;  // thousandths
    std::optional<std::int32_t> cap;  // thousandths
    std::optional<std::int32_t> weight;
    std::optional<std::int32_t> priority;
    std::optional<std::uint32_t> uid;
    std::optional<windows::Policy> policy;  // of a rotation
    std::string rotation;  // that a tenant is in; empty: none
    std::optional<std::uint64_t> persistent;  // bytes
    std::optional<std::uint64_t> peak;  // bytes
    std::optional<std::int64_t> expected_ns;
    std::optional<std::int64_t> park_ns;  // without a call
    std::vector<GpuWish> escaped;  // what its processes hold of these GPUs beside its share
};

// Errors: Invalid, saying which word it was and what would do.
base::Result<Order> read_order(std::string_view line);

}  // namespace berth::vgpu::arbiter
