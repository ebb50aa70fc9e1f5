// SPDX-License-Identifier: Apache-2.0
//
// What did the tenants of an attempt take of their GPUs, by what the arbiter says of them? Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/gpu_shares/measured/pairs.h"
#include "model/job/gpu_profile.h"

namespace berth::gpu_shares {

// The largest of all lines of the arbiter's status (vgpu/arbiter/README.md). None where they say
// nothing: a job that used no GPU.
std::optional<model::GpuProfile> profile_in(std::string_view status);

// The tenants in rotations.
std::vector<RotationSight> rotations_in(std::string_view status);

// What tenants that are on their GPUs use of them.
struct TenantUse {
    std::string tenant;
    std::string gpu;  // its UUID
    base::Bytes memory{0};
    std::optional<base::Bytes> memory_limit;
    std::optional<base::MilliGpu> compute;  // lately; none where it passes no gate
    std::optional<base::MilliGpu> cap = {};  // none = all of it
    bool operator==(const TenantUse&) const = default;
};
std::vector<TenantUse> uses_in(std::string_view status);

// Who has joined a tenant, of each of its GPUs.
struct TenantMembers {
    std::string tenant;
    std::string gpu;  // its UUID
    bool is_shared = false;  // the tenant has a part of it, or turns on it
    std::set<std::int64_t> processes;
    bool operator==(const TenantMembers&) const = default;
};
std::vector<TenantMembers> members_in(std::string_view status);

// Of both the larger, and the iterations of the one that made more.
model::GpuProfile larger(const model::GpuProfile& one, const model::GpuProfile& other);

}  // namespace berth::gpu_shares
