// SPDX-License-Identifier: Apache-2.0
#include "model/project.h"

namespace berth::model {

Entitlement without_guarantees(Entitlement rights) {
    rights.quota.reset();
    rights.cpu_quota.reset();
    rights.memory_quota.reset();
    return rights;
}

Entitlement rights_in(const Project& project, const std::string& pool) {
    if (const auto found = project.pools.find(pool); found != project.pools.end()) {
        return found->second;
    }
    return pool == kDefaultPool ? project.rights : without_guarantees(project.rights);
}

}  // namespace berth::model
