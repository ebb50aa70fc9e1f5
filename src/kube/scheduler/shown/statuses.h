// SPDX-License-Identifier: Apache-2.0
//
// What do kubectl get projects, kubectl get pools and berth kube fairshare show? The status of each
// Project and Pool: quota, fair share, GPUs used, above the quota, jobs that wait, together and in
// each pool; nodes, GPUs, and those that idle. Written when it is another one, every kStatusEvery
// at most.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "control/controller.h"
#include "kube/client/transport/requests.h"
#include "kube/client/transport/timers.h"
#include "kube/scheduler/facts/rights.h"

namespace berth::kube::scheduler {

inline constexpr base::Duration kStatusEvery = std::chrono::seconds(10);

class Statuses {
  public:
    Statuses(client::Requests& requests, client::Timers& timers, const ports::Clock& clock,
             const control::Controller& controller, const Rights& rights);

  private:
    // A project's in one pool, or in all of them together.
    struct Use {
        base::MilliGpu quota{0};
        base::MilliGpu fair_share{0};
        base::MilliGpu used{0};
        base::MilliGpu over{0};
        std::int64_t waiting = 0;  // jobs
    };
    using Uses = std::vector<Use>;  // by project

    void tick();
    void tell(std::string_view kind, const std::string& name, objects::Uid uid, std::string status);
    std::string status_of(base::ProjectId project, const std::map<std::string, Uses>& pools,
                          const std::vector<std::int64_t>& waiting) const;
    std::string status_of(base::PoolId pool) const;
    std::string accepted(const std::string& project, objects::Uid uid);
    Uses uses_in(base::PoolId pool) const;
    // Of a project and of all below it: who waits there waits in the department too.
    template <typename Counts>
    std::vector<std::int64_t> waiting(Counts counts) const;

    client::Requests& requests_;
    const control::Controller& controller_;
    const Rights& rights_;
    const ports::Clock& clock_;
    // Whether a Project is in force, and since when.
    std::map<objects::Uid, std::pair<bool, base::TimePoint>> accepted_;
    std::map<objects::Uid, std::string> written_;
    std::set<objects::Uid> seen_;  // in this round
    std::set<std::string> pools_;  // that a status may name still
    client::Timer timer_;
    std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace berth::kube::scheduler
