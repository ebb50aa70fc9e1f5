// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/keepers/driver_limits.h"

namespace berth::gpu_shares {

base::Status DriverLimits::add(const Tenant& tenant, ports::LaunchOrder& order) {
    BERTH_TRY_VOID(mps_.start());
    BERTH_TRY_VOID(groups_.add(tenant));
    for_each_task(tenant, order, [&](ports::TaskLaunch& task) {
        task.control_group = groups_.folder_of(tenant);
        for (std::string& setting : mps_.environment(task.share, order.kind)) {
            task.environment.push_back(std::move(setting));
        }
    });
    return {};
}

bool DriverLimits::end_if_idle() {
    groups_.drop({});
    if (has_tenants()) return false;
    mps_.stop();
    groups_.remove();
    return true;
}

}  // namespace berth::gpu_shares
