// SPDX-License-Identifier: Apache-2.0
//
// The scheduler of a cluster: what the caches say becomes events of the core, what the core decides
// becomes writes to the API server.
//
//   caches -> what changed (nodes, gangs, declarations) -> control -> decide -> Binder -> binds
//
// It begins with a list: when all caches are synced, what is there becomes the state, and then it
// goes on. One thread, that of the timers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/controller.h"
#include "kube/cluster/budgets.h"
#include "kube/objects/receipts.h"
#include "kube/scheduler/binds/memory_store.h"
#include "kube/scheduler/facts/gang_jobs.h"
#include "kube/scheduler/facts/nodes.h"
#include "kube/scheduler/facts/rights.h"
#include "kube/scheduler/facts/watches.h"
#include "kube/scheduler/shown/activity.h"
#include "kube/scheduler/shown/events.h"
#include "kube/scheduler/shown/statuses.h"
#include "kube/scheduler/shown/wait_reasons.h"

namespace berth::kube::scheduler {

struct Options {
    std::string name = "berth";  // schedulerName of the pods that are ours
    std::uint64_t seed = 1;  // of back-offs
    // What people who run it should know, a line each.
    std::function<void(const std::string&)> log = [](const std::string&) {};
    // It should be destroyed, and another one begin with what is there by then: something was
    // declared that the core does not change while it runs, and nothing is lost by it.
    std::function<void()> begin_again = [] {};
};

class Scheduler {
  public:
    // `clock` gives the moments of the core: the calendar's, which never goes back.
    Scheduler(client::Requests& requests, client::Timers& timers, const ports::Clock& clock,
              Options options);
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    void start();

    // It has listed everything, and decides.
    bool is_deciding() const { return jobs_ != nullptr; }
    // What keeps it from that, or from going on, in words; empty when nothing does.
    std::string trouble() const;
    // Set when it cannot go on: a restart is the recovery.
    const std::optional<base::Error>& failure() const { return failure_; }
    // Null before it decides.
    const control::Controller* controller() const { return controller_.get(); }
    const Binder::Counts& binds() const { return binder_.counts(); }
    Activity activity() const { return {decisions_, binder_.counts(), pauses_, watches_.counts()}; }

  private:
    ChangeHandlers change_handlers();
    void touch(base::Duration within = base::Duration{0});
    void turn();
    void tell_core();
    void look_again();
    base::Status begin();
    cluster::ProjectPools project_of(const cluster::Gang& gang, std::string& why) const;
    cluster::Described gangs_now(cluster::Strangers& strangers) const;
    model::Description described(const cluster::Described& gangs) const;
    base::Result<lifecycle::State> first_state(cluster::Described& gangs);
    bool can_begin_again();
    std::string why_not(const model::JobSpec& asks, const std::string& node) const;
    void say_paused(model::JobId job);
    void note_promise(model::JobId job);
    objects::Promise promise_of(const model::JobRecord& job) const;
    void say_if_unknown(const objects::Pod& pod);
    client::Annotations notes_of(model::JobId job, bool is_suspended) const;
    objects::Receipt receipt_for(const model::JobRecord& job) const;
    objects::Receipt receipt_after(const model::JobRecord& job) const;
    void say_if_refused(const std::string& what, const base::Status& done);

    client::Requests& requests_;
    client::Timers& timers_;
    const ports::Clock& clock_;
    Options options_;
    Watches watches_;  // before what keeps words and objects of its caches
    cluster::Gangs gangs_;
    cluster::Budgets budgets_;
    cluster::Strangers strangers_;
    Rights rights_;
    Nodes nodes_;
    std::set<std::string> said_;  // lines of the log that were said
    Events events_;
    MemoryStore store_;
    Binder binder_;
    std::unique_ptr<control::Controller> controller_;
    std::unique_ptr<GangJobs> jobs_;
    std::unique_ptr<WaitReasons> reasons_;
    std::unique_ptr<Statuses> statuses_;
    std::vector<model::JobFinished> ended_;
    std::vector<model::JobId> paused_;
    Histogram decisions_;
    std::uint64_t pauses_ = 0;
    std::vector<model::JobId> promised_;
    std::optional<base::Error> failure_;
    client::Timer turn_;
    base::TimePoint turn_at_;
    base::TimePoint begun_;
    client::Timer look_again_;  // at what was refused
    bool may_help_refused_ = false;
};

}  // namespace berth::kube::scheduler
