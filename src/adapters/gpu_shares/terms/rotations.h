// SPDX-License-Identifier: Apache-2.0
//
// How much of a GPU's memory is for those that use it in turn? What limits of other tenants leave:
// packed jobs are in the rotation of their GPU (vgpu/arbiter), which has its name, and see all of
// that memory as theirs. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/quantity.h"

namespace berth::gpu_shares {

// What an arbiter gets of a tenant, and gets again after its restart.
struct TenantTerms {
    std::string order;  // "tenant NAME gpus=..."
    std::string rotation;  // the UUID of its GPU; empty: it is in none
    base::Bytes memory{0};  // of that GPU
    std::string node = {};
    bool may_leave = false;  // Tenant

    bool operator==(const TenantTerms&) const = default;
};

// What to tell the arbiter, in this order, so that every rotation of the tenants has the memory
// that is left for it. An order that comes too early is refused and comes again. `before`:
// rotations as the arbiter has them; those that do not change are left out, and it is brought up to
// date.
std::vector<std::string> rotation_orders(const std::map<std::string, TenantTerms>& tenants,
                                         std::map<std::string, base::Bytes>& before);

// The text of a file, and back.
std::string written(const TenantTerms& terms);
TenantTerms read_terms(const std::string& text);

}  // namespace berth::gpu_shares
