// SPDX-License-Identifier: Apache-2.0
//
// What does one decision read and write? The plan and the cluster in step: what is written into
// the plan is true of the cluster at once, inside the caller's Trial. The passes of decide.h are
// functions over it; what each of them keeps from one decision to the next is in the cache.
//
// A decision is tried again where a job got GPUs that another has a stronger right to
// (conflicts.h): `known` says what earlier attempts found out, conflicts() what this one did.
#pragma once

#include <map>
#include <memory_resource>
#include <span>
#include <vector>

#include "cluster/cluster.h"
#include "model/plan.h"
#include "model/policy/policy.h"
#include "scheduling/passes/conflicts.h"
#include "scheduling/passes/decision_cache.h"
#include "scheduling/rights/victim_unit.h"

namespace berth::scheduling {

// Projects whose jobs or holdings changed as a job was served; none: it was not.
using Changed = base::SmallVector<ProjectId, 16>;

// Which attempt at a decision: what earlier ones found out, and whether this is the last. In the
// last one no job loses what it was just given; another finds other victims, or waits.
struct Attempt {
    const Conflicts& known;
    bool is_first = true;
    bool is_last = false;
};

class Decision {
  public:
    Decision(cluster::Cluster& cluster, const model::Policy& policy, TimePoint now,
             DecisionCache& cache, const Attempt& attempt);
    ~Decision();
    Decision(const Decision&) = delete;
    Decision& operator=(const Decision&) = delete;

    // --- what it reads
    cluster::Cluster& cluster() { return cluster_; }
    const model::Policy& policy() const { return policy_; }
    TimePoint now() const { return now_; }
    DecisionCache& cache() { return cache_; }
    const Attempt& attempt() const { return attempt_; }
    // Shares and rights in each pool, fixed for the decision once they are looked at.
    void look_at_pools();
    std::span<const PoolView> pools() const { return views_; }
    // The last place that any job's list of pools has; 0 with one pool.
    int last_preference() const { return last_preference_; }
    Bookings& bookings(const PoolView& view) { return cache_.pool(view.pool).bookings; }

    // --- what it writes
    // Tasks of one job that start by one rule stand in one line, whenever they were decided.
    void start(JobId job, PoolId pool, model::Rule rule,
               std::span<const model::TaskPlacement> tasks);
    // What was promised to it is free: it starts there.
    void start_from_hold(JobId job);
    void reserve(JobId job, PoolId pool, model::Rule rule,
                 std::span<const model::TaskPlacement> tasks);
    void drop_hold(JobId job);
    // Units of one job for one beneficiary, taken one after the other, are one pause.
    void pause(const VictimUnit& unit, model::Rule rule, JobId beneficiary, bool is_wasteful);
    void pause(const model::Pause& pause);
    // Whole jobs leave and are promised other places, which may be each other's.
    void move(std::span<const model::Move> moves, PoolId pool);
    // A job that one pause of this plan takes as a whole, and that was found another place, moves
    // instead.
    void move_instead(JobId job, PoolId pool, std::span<const model::TaskPlacement> tasks);
    void wake_at(TimePoint time);
    // Whoever has started by now may be a victim.
    void see_started() { unseen_.clear(); }
    void note_conflict(JobId loser, const Contender& winner) { add(conflicts_, loser, winner); }
    // A job could not be moved or paused because this plan has just given it something.
    void note_spared() { has_spared_ = true; }

    // --- what it has decided so far
    const model::Plan& plan() const { return plan_; }
    model::Plan take_plan() { return std::move(plan_); }
    const Conflicts& conflicts() const { return conflicts_; }
    bool is_winner(JobId job) const { return winners_.contains(job); }  // it was given something
    const JobSet& honoured() const { return honoured_; }  // started as promised to them
    bool has_spared() const { return has_spared_; }
    // Whether work is asked to leave, so that GPUs may be left over.
    bool frees_gpus() const { return !plan_.pauses.empty() || !plan_.moves.empty(); }

  private:
    // Until all have left that leave where the job is to start, and itself where it moves.
    TimePoint hold_until(JobId job, std::span<const model::TaskPlacement> tasks) const;

    static constexpr std::size_t kPools = 4;  // more of them need memory of their own

    cluster::Cluster& cluster_;
    const model::Policy& policy_;
    TimePoint now_;
    DecisionCache& cache_;
    Attempt attempt_;
    base::SmallVector<PoolView, kPools> views_;
    int last_preference_ = 0;
    model::Plan plan_;
    // Position in plan_.starts.
    std::pmr::map<std::pair<JobId, model::Rule>, std::size_t> start_of_;
    JobSet winners_;
    JobSet fresh_;  // start on idle GPUs: they have nothing to lose yet
    JobSet honoured_;
    JobSet unseen_;
    JobSet moved_;
    Conflicts conflicts_;
    bool has_spared_;
};

}  // namespace berth::scheduling
