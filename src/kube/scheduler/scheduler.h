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
#include "kube/cluster/node_of.h"
#include "kube/cluster/projects.h"
#include "kube/scheduler/declarations.h"
#include "kube/scheduler/gang_jobs.h"
#include "kube/scheduler/memory_store.h"
#include "kube/scheduler/statuses.h"
#include "kube/scheduler/wait_reasons.h"
#include "kube/scheduler/watches.h"

namespace berth::kube::scheduler {

struct Options {
    std::string name = "berth";  // schedulerName of the pods that are ours
    std::uint64_t seed = 1;  // of back-offs
    // What people who run it should know, a line each.
    std::function<void(const std::string&)> log = [](const std::string&) {};
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

  private:
    Told told();
    void touch(base::Duration within = base::Duration{0});
    void turn();
    base::Status begin();
    model::Description described(cluster::Described& gangs);
    model::Node node_now(const objects::Node& node) const;
    base::Result<lifecycle::State> first_state(cluster::Described& gangs);
    model::Levels levels_now() const;
    std::string why_not(model::JobId job, const objects::Pod& pod, const std::string& node) const;
    void count_resources(const objects::PodAsk& ask);
    void tell_nodes();
    void tell_declarations();
    cluster::ProjectPools project_of(const cluster::Gang& gang, std::string& why) const;
    std::vector<std::string> pools_of(const model::Project& project) const;
    client::Annotations notes_of(model::JobId job, bool is_suspended) const;
    void say_if_refused(const std::string& what, const base::Status& done);

    client::Requests& requests_;
    client::Timers& timers_;
    const ports::Clock& clock_;
    Options options_;
    Watches watches_;  // before what keeps words and objects of its caches
    cluster::Gangs gangs_;
    cluster::Projects namespaces_;
    cluster::Strangers strangers_;
    Declarations declarations_;
    std::map<std::string, model::Project> projects_;  // as the core has them
    std::map<std::string, model::Pool> pools_;
    std::map<std::string, objects::Node> nodes_;
    std::map<std::string, model::Node> told_nodes_;  // as the core has them
    std::set<std::string> changed_nodes_;
    // Resources that pods of ours ask for.
    cluster::Counted counted_{model::kPodsResource};
    std::set<std::string> said_;  // lines of the log that were said
    MemoryStore store_;
    Binder binder_;
    std::unique_ptr<control::Controller> controller_;
    std::unique_ptr<GangJobs> jobs_;
    std::unique_ptr<WaitReasons> reasons_;
    std::unique_ptr<Statuses> statuses_;
    std::vector<model::JobFinished> ended_;
    std::vector<model::JobId> paused_;
    std::optional<base::Error> failure_;
    client::Timer turn_;
    base::TimePoint turn_at_;
    client::Timer look_again_;  // at what was refused
    bool may_help_refused_ = false;
};

}  // namespace berth::kube::scheduler
