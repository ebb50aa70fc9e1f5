// SPDX-License-Identifier: Apache-2.0
//
// What the indexed state is made of: nodes, shapes, jobs, and the claims of projects on pools.
// Plain records; cluster.h keeps them consistent.
//
// Two views of every GPU: `Idle` is what could be used this moment, `Coming` what will be free
// once pausing jobs have left. A hold promises capacity of the Coming view to one job.
//     idle = 1000 - used - max(releasing, held)        coming = 1000 - used - held
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/paged_map.h"
#include "base/sorted_runs.h"
#include "cluster/free_index.h"
#include "cluster/node_state.h"
#include "cluster/shape.h"
#include "cluster/tiers.h"
#include "model/job.h"
#include "model/plan.h"
#include "model/project.h"

namespace berth::cluster {

using base::JobId;
using base::ProjectId;
using base::ShapeId;
using model::TaskPlacement;
using model::TimePoint;

inline constexpr ProjectId kRoot{0};

struct PlacedTask {
    TaskPlacement place;
    bool is_releasing = false;
};

struct Hold {
    std::vector<TaskPlacement> tasks;
    TimePoint deadline;
    model::Rule rule = model::Rule::Reclaim;
};

inline constexpr model::Duration kOfProject{-1};  // its project says

struct Job {
    JobId id;
    TimePoint created;
    ProjectId project;
    ShapeId shape;
    int priority = 0;
    int tier = 0;
    int tasks_min = 1;
    int tasks_max = 1;
    int active = 0;                   // running tasks, not counting those being released
    int lacking = 1;                  // of them, to the minimum of every group (cluster/gang.h)
    bool preemptible = true;
    bool may_run = true;              // not paused by a user, not parked, not ending
    bool is_parked = false;           // why it may not run: it is parked, and not paused as well
    model::Elastic elastic = model::Elastic::Live;
    int fresh_tasks = 0;  // placed since its last start
    model::JobKind kind = model::JobKind::Train;
    PoolId pool;  // where it runs or is promised to; else not valid
    Stay stay;  // valid while it is frozen
    std::vector<PlacedTask> placed;  // running or being released, by rank
    std::optional<Hold> hold;
    TimePoint waiting_since;          // last put in line: submitted, paused, lost or resumed
    TimePoint last_start;
    TimePoint last_saved;  // start or last checkpoint: work after it is unsaved
    model::Duration restart_cost{0};
    model::Duration expected_runtime{0};  // 0 = not declared
    model::Duration min_run = kOfProject;
    Attained attained;
    TimePoint last_pause;             // when it was last asked to leave
    model::Duration preemption_delay = kOfProject;

    bool is_releasing() const { return static_cast<std::size_t>(active) < placed.size(); }
    // Whether it runs and has to be stopped and started again for more tasks.
    bool grows_by_restart() const;
    // Tasks it needs to make its next step: the gang, or more.
    int ask() const { return lacking > 0 ? lacking : growth(); }
    // One more; a restart is worth a quarter more at least, or what is missing to the maximum.
    int growth() const;
    // 0 below its minimum, 1 at it, 2 above (rule R3).
    int stage() const { return lacking > 0 ? 0 : active == tasks_min ? 1 : 2; }
    bool is_short() const { return active > 0 && lacking > 0; }  // it cannot work (rule R10)
    Precedence precedence() const { return {priority, tier}; }
    // A job that runs whole and wants more goes after all that lack something, of any tier.
    Precedence precedence_in_line() const { return {priority, stage() > 0 ? kLastTier : tier}; }
    // Frozen, it comes back with the tasks that it has, no more and no less.
    int least_tasks() const { return stay.node.is_valid() ? stay.tasks : tasks_min; }
    int most_tasks() const { return stay.node.is_valid() ? stay.tasks : tasks_max; }
    // In line for an allocation.
    bool is_waiting() const { return may_run && !hold && !is_releasing() && active < most_tasks(); }
    bool is_victim() const { return preemptible && active > 0; }
    // Declared minutes of one run, so that lanes stay few: up to the next minute below an hour, the
    // next quarter of an hour below a day, then the next hour. 0 = not declared.
    int declared_minutes() const;
    Ranks ranks() const;  // of its placed tasks
    Ranks free_ranks(int count) const;  // without a place, lowest first, at most so many
};

using Jobs = base::PagedMap<JobId, Job>;

// Jobs of one project that are alike in everything an allocation looks at, oldest first: when the
// first of them cannot start, none of them can.
struct LaneKey {
    Precedence precedence;
    int stage = 0;
    ShapeId shape;
    int ask = 1;
    bool preemptible = true;
    int preference = 0;  // position of this pool in the jobs' list of pools
    model::Duration preemption_delay = kOfProject;
    std::uint32_t home = 0;  // where running tasks bind the next one (Cluster::home)
    // The only job of the lane: it grows by a restart or group by group, or is frozen.
    JobId alone;
    int minutes = 0;  // how long a run takes, rounded up; 0 = not declared

    // Greater precedence first, then rule R3.
    bool operator<(const LaneKey& other) const;
    bool operator==(const LaneKey& other) const = default;
};
using Lane = base::SortedRuns<std::pair<TimePoint, JobId>>;
using Lanes = std::map<LaneKey, Lane>;

// Running preemptible jobs of one project, the first victim first (rule R8).
struct VictimKey {
    Precedence precedence;
    int stage = 0;
    TimePoint created;
    JobId job;

    bool operator<(const VictimKey& other) const;
};
inline VictimKey victim_key(const Job& job) {
    return {job.precedence(), job.stage(), job.created, job.id};
}

// What a tree node holds and wants in one pool, its subtree included, as GPUs count there.
struct Usage {
    MilliGpu allocated{0};  // running or promised
    MilliGpu not_preemptible{0};  // the part of it that cannot be paused
    MilliGpu pending{0};  // wanted on top, by jobs that may run

    bool operator==(const Usage&) const = default;
};

// One project in one pool.
struct Claim {
    model::Entitlement rights;
    MilliGpu quota{0};  // rights.quota, or the sum of the children's
    MilliGpu limit{0};  // rights.limit; of a fixed quota: at most the quota
    Usage usage;
    Lanes lanes;
    std::uint64_t lanes_stamp = 0;  // another whenever a lane changes
    base::SortedRuns<VictimKey> victims;
};

struct PoolState {
    std::string name;
    model::Labels labels;
    std::string spares;  // the pool that has them; empty = none
    std::array<FreeIndex, 2> free;  // by View
    std::array<MilliGpu, 2> free_total{};  // by View, shared GPUs included
    DomainTree domains;
    MilliGpu capacity{0};  // of ready nodes
    // By GPU model, in thousandths: what one counts as in quotas, limits and fair shares.
    std::map<std::string, std::int64_t> exchange;
    std::vector<std::int32_t> weights;  // the same by node kind; empty where models count alike
    MilliGpu counted_capacity{0};  // of ready nodes, as GPUs count
    std::vector<std::int32_t> nodes_of_kind;  // how many, ready or not; shorter = none
    int gpus_per_node_max = 0;
    model::Node smallest_gpu;  // the least memory and the largest context of any; 0 = none said
    std::vector<Claim> claims;  // by project
    bool has_fixed_quota = false;  // anybody's

    model::Pool description() const { return {name, labels, exchange, spares}; }
    bool has_kind(std::size_t kind) const {
        return kind < nodes_of_kind.size() && nodes_of_kind[kind] > 0;
    }
    // What one GPU of the node counts as, in thousandths.
    std::int64_t weight_of(const NodeState& node) const {
        return weights.empty() ? 1000 : weights[node.kind];
    }
};

struct ProjectState {
    model::Project project;
    ProjectId parent;
    std::vector<ProjectId> children;  // oldest first
};

}  // namespace berth::cluster
