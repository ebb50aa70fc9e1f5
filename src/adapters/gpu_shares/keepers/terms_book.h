// SPDX-License-Identifier: Apache-2.0
//
// What does an arbiter get to know of each tenant? Written down, one file for each, so that the
// next arbiter and the next server know it too.
#pragma once

#include <map>
#include <set>
#include <string>

#include "adapters/gpu_shares/terms/rotations.h"

namespace berth::gpu_shares {

class TermsBook {
  public:
    // With what a server before this one wrote down in that folder.
    explicit TermsBook(std::string folder);

    const std::map<std::string, TenantTerms>& tenants() const { return tenants_; }
    void put(const std::string& name, TenantTerms terms);
    void erase(const std::string& name);
    // A copy of those whose names begin with `prefix` and a dot.
    std::map<std::string, TenantTerms> of(const std::string& prefix) const;
    // Of those that may be off their GPUs at any time (Tenant::may_leave).
    std::set<std::string> nodes_of_dependents() const;
    // Of the tenants whose names begin so; empty where there are none.
    std::string node_of(const std::string& prefix) const;

  private:
    std::string folder_;
    std::map<std::string, TenantTerms> tenants_;
};

}  // namespace berth::gpu_shares
