// SPDX-License-Identifier: Apache-2.0
//
// What is known of a job: what it asks, what it has, and since when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/paged_map.h"
#include "cluster/jobs/ranks.h"
#include "cluster/nodes/node_state.h"
#include "cluster/nodes/shape.h"
#include "model/job/job.h"
#include "model/plan.h"

namespace berth::cluster {

using base::JobId;
using base::ProjectId;
using base::ShapeId;
using model::TaskPlacement;
using model::TimePoint;

struct PlacedTask {
    TaskPlacement place;
    bool is_releasing = false;
};

struct Reservation {
    std::vector<TaskPlacement> tasks;
    TimePoint deadline;
    model::Rule rule = model::Rule::Reclaim;
};

// Who handed a job in, and what it runs, as people read it.
struct Origin {
    std::string_view user = {};
    std::string_view command = {};
};

inline constexpr model::Duration kOfProject{-1};  // its project says

struct Job {
    JobId id;
    TimePoint created;
    ProjectId project;
    ShapeId shape;
    int priority = 0;
    Rank rank;
    int tasks_min = 1;
    int tasks_max = 1;
    int grows_by = 1;                 // and shrinks: one task, or those of a whole group
    int active = 0;                   // running tasks, not counting those being released
    int lacking = 1;                  // of them, to the minimum of every group (cluster/gang.h)
    std::int16_t companions = 0;      // running beside its tasks, which are not counted there
    std::int16_t lacking_companions = 0;
    bool preemptible = true;
    bool may_run = true;              // not paused by a user, not parked, not ending
    bool is_parked = false;           // why it may not run: it is parked, and not paused as well
    model::Elastic elastic = model::Elastic::Live;
    int fresh_tasks = 0;  // placed since its last start
    model::JobKind kind = model::JobKind::Train;
    bool saves_when_asked = false;  // it did when tasks of it left last
    PoolId pool;  // where it runs or is promised to; else not valid
    Pinned pinned;  // valid while it is frozen
    std::vector<PlacedTask> placed;  // running or being released, by rank
    std::optional<Reservation> reservation;
    TimePoint waiting_since;          // last put in line: submitted, paused, lost or resumed
    TimePoint last_start;
    TimePoint last_saved;  // start or last checkpoint: work after it is unsaved
    model::Duration restart_cost{0};
    model::Duration expected_runtime{0};  // 0 = not declared
    model::Duration min_run = kOfProject;
    Attained attained;
    TimePoint last_pause;             // when it was last asked to leave
    model::Duration preemption_delay = kOfProject;
    std::optional<model::Duration> pause_grace;  // none = the policy's

    bool is_releasing() const { return std::cmp_less(active + companions, placed.size()); }
    bool is_companion(int task) const { return task >= tasks_max; }  // by its rank
    bool has_companions() const { return companions + lacking_companions > 0; }
    bool is_below_minimum() const { return lacking > 0 || lacking_companions > 0; }
    // How many are no companions, of these and of those that have a place.
    int tasks_among(std::span<const TaskPlacement> places) const;
    int tasks_placed() const;
    // How many it has where it is placed anew: all companions, should it lack some now.
    int tasks_anew() const { return tasks_placed() + companions + lacking_companions; }
    // Whether it runs and has to be stopped and started again for more tasks.
    bool grows_by_restart() const;
    // Tasks it needs to make its next step: the gang, or more; 0 when it lacks companions alone.
    int ask() const { return is_below_minimum() ? lacking : growth(); }
    // One more, or one more group; a restart is worth a quarter more at least, or what is missing
    // to the maximum.
    int growth() const;
    // Tasks without which it does not go on: one that grows keeps what it has grown to.
    int core_tasks() const {
        return elastic == model::Elastic::Grow ? std::max(active, tasks_min) : tasks_min;
    }
    // 0 below its minimum, 1 at it, 2 above (rule R3).
    int gang_phase() const { return is_below_minimum() ? 0 : active == core_tasks() ? 1 : 2; }
    // It cannot work (rule R10).
    bool is_short() const { return active + companions > 0 && is_below_minimum(); }
    PriorityKey priority_key() const { return {priority, rank}; }
    // Since when its work would be lost with a pause: never, where it saves when it is asked.
    TimePoint loses_from() const { return saves_when_asked ? TimePoint::max() : last_saved; }
    // A job that runs whole and wants more goes after all that lack something, of any rank.
    PriorityKey queue_priority() const {
        return {priority, gang_phase() > 0 ? ordering::kLastRank : rank};
    }
    // Frozen, it comes back with the tasks that it has, no more and no less.
    int least_tasks() const { return pinned.node.is_valid() ? pinned.tasks : tasks_min; }
    int most_tasks() const { return pinned.node.is_valid() ? pinned.tasks : tasks_max; }
    // Whose host memory is set aside for its processes: from its first task on that is its tasks'.
    Pinned pinned_apart() const { return placed.empty() ? pinned : Pinned{}; }
    // In line for an allocation.
    bool is_waiting() const {
        const bool wants_more = active < most_tasks() || lacking_companions > 0;
        return may_run && !reservation && !is_releasing() && wants_more;
    }
    bool is_victim() const { return preemptible && active > 0; }
    // Declared minutes of one run, so that job classes stay few: up to the next minute below an
    // hour, the next quarter of an hour below a day, then the next hour. 0 = not declared.
    int declared_minutes() const;
    Ranks ranks() const;  // of its placed tasks
    // What its tasks take of GPUs. Those that are asked to leave still hold theirs.
    enum class Leaving { Counted, Ignored };
    MilliGpu in_use(Leaving leaving = Leaving::Counted) const;
    Ranks free_ranks(int count) const;  // without a place, lowest first, at most `count`
};

// As it is before it stands anywhere, but for its project and its shape.
Job job_of(JobId id, const model::JobSpec& spec, TimePoint created);

using Jobs = base::PagedMap<JobId, Job>;

}  // namespace berth::cluster
