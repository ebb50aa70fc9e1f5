// SPDX-License-Identifier: Apache-2.0
//
// What happens to the jobs of a trace in a cluster? The real core decides, as in the server:
// scheduling::decide on the state of lifecycle/, its plan carried out as events. Only time is
// virtual: it goes from one submission, end, departure or wake-up of the plan to the next, and all
// that happens at one moment is taken in before one decision.
//
// The model: as in replay.h, and a job that is asked to leave holds its GPUs for `save_time` more,
// without progress. By Nodes a job is one task where a node of its pool has as many GPUs, else
// equal tasks, as large as divides both; by Count every task has one GPU. A part of a GPU is a
// share, which costs the job nothing of its speed: what the trace says it takes, it takes with
// that.
//
// Trusts: the audit says whether it came true (core_audit.h).
// Cost: one decision a moment.
#pragma once

#include <memory>
#include <span>

#include "lifecycle/apply.h"
#include "model/description.h"
#include "model/ledger.h"
#include "model/policy/policy.h"
#include "simulation/replay/replay.h"

namespace berth::simulation {

// Something that happens to the cluster or its rules, whatever the jobs do. One that is impossible
// then, since jobs are elsewhere than they were, is passed over. Of a node that fails its jobs go
// back in line with the progress that they have made.
struct ClusterChange {
    TimePoint at;
    model::EventBody body;
};

struct CoreExperiment {
    const Trace& trace;
    const model::Description& cluster;  // without jobs
    model::Policy policy = {};
    Placement placement = Placement::Nodes;
    Duration restart_cost = std::chrono::seconds(60);
    Duration save_time = std::chrono::seconds(30);  // at most the policy's pause grace
    std::span<const ClusterChange> changes = {};  // in order
    std::optional<TimePoint> ledger_until = {};  // none = until the end

    // What the measures of replay.h see: a number of GPUs, a pause costing all that it costs.
    Experiment plain() const;
};

// The GPUs of the nodes that are ready, numbered through; their counts where all are alike, else
// one node of all.
Machines machines_of(const model::Description& cluster);

struct CoreReplay {
    Replay replay;
    std::vector<TimePoint> asked;  // of each interval: when it was asked to leave, or its end
    std::int64_t decisions = 0;
    TimePoint ended;
    model::LedgerBook ledger;  // up to then, or as long as was asked
    std::int64_t changes_passed_over = 0;
    std::string why_unfinished = {};  // why the first job waits that did not end; empty: all did
};

// What a job of the trace asks of the cluster, whose nodes have `gpus_per_node` in its pool.
model::JobSpec spec_of(const TraceJob& job, int gpus_per_node, const CoreExperiment& experiment);

// A cluster of these nodes, of one model, and one project that owns them all.
model::Description owned_by_one(const Machines& machines);
// The trace as that project's. What it says of projects goes into the names of users, so that who
// is alike is as it was; pools go.
Trace of_one_project(Trace trace);

// The trace as the cluster will take it: a job without a project belongs to the only one there is.
// Errors: Invalid, naming the job: its project or pool is not in the cluster, or the project is a
// department; or the cluster has jobs, is impossible, or a pause takes longer than its grace.
base::Result<Trace> trace_for(const Trace& trace, const model::Description& cluster);

// The same a part at a time, by one who has other things to do. What it is made of must outlive it.
class CoreRun {
  public:
    // From that state on, which has no jobs.
    CoreRun(const CoreExperiment& experiment, lifecycle::State state);
    CoreRun(CoreRun&&) noexcept;
    ~CoreRun();

    // Decides that often at most; whether all has been done. Errors: as of replay().
    base::Result<bool> go_on(std::int64_t decisions, const OnProgress& on_progress = {});
    std::size_t finished() const;  // jobs, so far
    // Once all has been done.
    CoreReplay take();

  private:
    std::unique_ptr<class CorePlayer> player_;
};

// Errors: Invalid, as of trace_for, which the trace has passed; Exhausted, when there is no end to
// it.
base::Result<CoreReplay> replay(const CoreExperiment& experiment,
                                const OnProgress& on_progress = {});

}  // namespace berth::simulation
