// SPDX-License-Identifier: Apache-2.0
//
// What one decision asks to be done. Carried out by control/, shown by `berth plan`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/job/job.h"

namespace berth::model {

// The rule by which an action was taken.
enum class Rule {
    Allocate,  // idle GPUs to the next job in order
    Reclaim,   // across projects: the owner of a share takes back what was lent
    Preempt,   // inside a project: a higher priority goes first
    Consolidate,  // running jobs move together, so that a larger one fits
    Hold,      // GPUs kept for this job by an earlier plan are free now
    User,      // a user asked
    Stale,     // a gang below its minimum for too long gives its GPUs back
    Part,      // packed on one GPU, two jobs get less done than one after the other
    Park,      // it made no call to its GPUs for as long as it said
};

// Tasks start on these GPUs now. A job that runs already and grows is listed with its new tasks.
struct Start {
    JobId job;
    Rule rule = Rule::Allocate;
    std::vector<TaskPlacement> tasks;

    bool operator==(const Start&) const = default;
};

// What a pause destroys, in milliseconds of one GPU.
struct PauseCost {
    std::int64_t unsaved_gpu_ms = 0;  // work since the last checkpoint
    std::int64_t restart_gpu_ms = 0;

    bool operator==(const PauseCost&) const = default;
};

// What a project had in the pool when its job was paused, or another one for it.
struct PauseSide {
    std::string project;
    MilliGpu used{0};
    MilliGpu quota{0};

    bool operator==(const PauseSide&) const = default;
};
struct PauseSides {
    std::string pool;
    PauseSide own;    // of the job that is paused
    PauseSide other;  // of the one that gains by it; the same project, where both are of it
    MilliGpu asked{0};  // by that one, at least

    bool operator==(const PauseSides&) const = default;
};

// Tasks are asked to save and stop, so that `beneficiary` can start in their place.
struct Pause {
    JobId job;
    std::vector<int> tasks;  // ranks; all running ones = the job is paused, fewer = it shrinks
    bool whole_job = true;
    Rule rule = Rule::Reclaim;
    JobId beneficiary;  // not valid when no job gains by it
    PauseCost cost;
    bool is_wasteful = false;  // counts against the waste budget

    bool operator==(const Pause&) const = default;
};

// A running job is asked to save and stop, and is promised another place in the same plan, so that
// `beneficiary` can have the old one. It starts there when both have been left; what it loses is
// its unsaved work and one restart, nothing else.
struct Move {
    JobId job;
    std::vector<TaskPlacement> tasks;  // all of its running tasks, where they go
    Rule rule = Rule::Consolidate;     // or Reclaim or Preempt: a victim that was found a place
    JobId beneficiary;
    PauseCost cost;
    bool is_wasteful = false;          // counts against the waste budget
    TimePoint deadline = {};           // its new place is held until then

    bool operator==(const Move&) const = default;
};

// GPUs promised to a job: it starts on them when their present holders have left.
struct Reservation {
    JobId job;
    Rule rule = Rule::Reclaim;
    std::vector<TaskPlacement> tasks;
    TimePoint deadline = {};  // they are held until then

    bool operator==(const Reservation&) const = default;
};

// A job that has waited long is to start on these GPUs when the jobs there have ended. Nothing
// is promised: it is reserved anew by every decision. Until then those of them that idle are kept
// from jobs that would delay it.
struct BackfillReservation {
    JobId job;
    TimePoint start;                   // as far as declared and as things go
    int unknown = 0;  // jobs in its way that have not declared how long they run
    std::vector<TaskPlacement> tasks;  // where it will run
    std::vector<TaskPlacement> kept;  // the part that idles now

    bool operator==(const BackfillReservation&) const = default;
};

// Quotas that promise more than there is, in one pool: those directly below `scope`.
struct Overcommitment {
    std::string pool;
    std::string scope;      // a department; empty = the pool itself
    MilliGpu quotas{0};     // their sum
    MilliGpu capacity{0};   // of the pool's ready nodes, or what the department's quota is worth

    bool operator==(const Overcommitment&) const = default;
};

// A node on which nothing runs joins another pool.
struct NodeMove {
    std::string node;
    std::string pool;
    std::string replaces;   // a node that is not ready; empty: its labels say so (model/event.h)

    bool operator==(const NodeMove&) const = default;
};

struct Plan {
    std::vector<NodeMove> node_moves;       // decided alone, before anything else
    std::vector<Start> starts;
    std::vector<Pause> pauses;
    std::vector<Move> moves;
    std::vector<Reservation> reservations;
    std::vector<BackfillReservation> backfill;
    std::vector<JobId> dropped;             // jobs whose hold ran out or is void
    // Frozen jobs that wait in vain where they are: their processes are ended (node_moves.h).
    std::vector<JobId> give_ups;
    // Decide again then, even if nothing happens; at once when carrying this out may leave more.
    std::optional<TimePoint> next_wakeup;
    std::vector<Overcommitment> overcommitted;  // quotas that were scaled down; says, does nothing

    bool is_empty() const {
        return starts.empty() && pauses.empty() && moves.empty() && reservations.empty() &&
               dropped.empty() && node_moves.empty() && give_ups.empty();
    }
    bool operator==(const Plan&) const = default;
};

}  // namespace berth::model
