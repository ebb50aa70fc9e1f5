// SPDX-License-Identifier: Apache-2.0
//
// What do kubectl get projects and kubectl get pools show? The status of each Project and Pool:
// GPUs used, above the quota, jobs that wait; nodes, GPUs, and those that idle. Written when it is
// another one, every kStatusEvery at most.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "control/controller.h"
#include "kube/client/requests.h"
#include "kube/client/timers.h"
#include "kube/scheduler/declarations.h"

namespace berth::kube::scheduler {

inline constexpr base::Duration kStatusEvery = std::chrono::seconds(10);

class Statuses {
  public:
    Statuses(client::Requests& requests, client::Timers& timers,
             const control::Controller& controller, const Declarations& declarations);

  private:
    void tick();
    void tell(const std::string& path, objects::Uid uid, const std::string& status);
    std::string status_of(base::ProjectId project, std::int64_t waiting) const;
    std::string status_of(base::PoolId pool) const;
    std::map<base::ProjectId, std::int64_t> waiting() const;

    client::Requests& requests_;
    const control::Controller& controller_;
    const Declarations& declarations_;
    std::map<std::string, std::string> told_;  // by path
    client::Timer timer_;
    std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace berth::kube::scheduler
