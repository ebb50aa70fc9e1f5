// SPDX-License-Identifier: Apache-2.0
#include "model/project.h"

namespace berth::model {

Entitlement rights_in(const Project& project, const std::string& pool) {
    if (const auto found = project.pools.find(pool); found != project.pools.end()) {
        return found->second;
    }
    Entitlement rights = project.rights;
    if (pool != kDefaultPool) rights.quota.reset();
    return rights;
}

}  // namespace berth::model
