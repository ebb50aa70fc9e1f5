// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/keepers/share_keeper.h"

namespace berth::gpu_shares {

void ShareKeeper::drop_all_but(const std::set<ports::AttemptId>& attempts) {
    std::set<std::string> known;
    for (const ports::AttemptId attempt : attempts) known.insert(name_of(attempt));
    for (const std::string& tenant : tenants()) {
        const std::string attempt = tenant.substr(0, tenant.rfind('.'));
        if (!known.contains(attempt)) drop(attempt);
    }
}

void put_first(const ports::LaunchOrder& order, ports::TaskLaunch& task, const std::string& name,
               std::string value) {
    for (const std::string& own : order.spec.environment) {
        if (own.starts_with(name + "=") && own.size() > name.size() + 1) {
            value += ":" + own.substr(name.size() + 1);
        }
    }
    task.environment.push_back(name + "=" + value);
}

}  // namespace berth::gpu_shares
