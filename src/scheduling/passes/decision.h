// SPDX-License-Identifier: Apache-2.0
//
// What does one decision read and write? The plan and the cluster in step: what is written into
// the plan is true of the cluster at once, inside the caller's Trial. The passes of decide.h are
// functions over it; what each of them keeps from one decision to the next is in the cache.
//
// A decision is tried again where a job got GPUs that another has a stronger right to
// (withdrawals.h): `known` says what earlier attempts found out, withdrawals() what this one did.
#pragma once

#include <map>
#include <memory_resource>
#include <span>
#include <vector>

#include "cluster/cluster.h"
#include "model/plan.h"
#include "model/policy/policy.h"
#include "scheduling/passes/decision_cache.h"
#include "scheduling/passes/withdrawals.h"
#include "scheduling/rights/victim_unit.h"

namespace berth::scheduling {

// Projects whose jobs or holdings changed as a job was served; none: it was not.
using Changed = base::SmallVector<ProjectId, 16>;

// Which attempt at a decision: what earlier ones found out, and whether this is the last. In the
// last one no job loses what it was just given; another finds other victims, or waits.
struct Attempt {
    const Withdrawals& known;
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
    Backfill& backfill(const PoolView& view) { return cache_.pool(view.pool).backfill; }

    // --- what it writes
    // Tasks of one job that start by one rule are one entry, whenever they were decided.
    void start(JobId job, PoolId pool, model::Rule rule,
               std::span<const model::TaskPlacement> tasks);
    // What was promised to it is free: it starts there.
    void start_reserved(JobId job);
    void reserve(JobId job, PoolId pool, model::Rule rule,
                 std::span<const model::TaskPlacement> tasks);
    void drop_reservation(JobId job);
    // Units of one job for one beneficiary, taken one after the other, are one pause.
    void pause(const VictimUnit& unit, model::Rule rule, JobId beneficiary, bool is_wasteful);
    void pause(const model::Pause& pause);
    // Whole jobs leave and are promised other places, which may be each other's.
    void move(std::span<const model::Move> moves, PoolId pool);
    // A job that one pause of this plan takes as a whole, and that was found another place, moves
    // instead.
    void move_instead(JobId job, PoolId pool, std::span<const model::TaskPlacement> tasks);
    void wake_at(TimePoint time);
    // Jobs that have started by now may be victims.
    void see_started() { unseen_.clear(); }
    void note_withdrawal(JobId loser, const StrongerJob& winner) {
        add(withdrawals_, loser, winner);
    }
    // A job could not be moved or paused because this plan has just given it something.
    void note_untouchable() { has_untouchable_ = true; }

    // --- what it has decided so far
    const model::Plan& plan() const { return plan_; }
    model::Plan take_plan() { return std::move(plan_); }
    const Withdrawals& withdrawals() const { return withdrawals_; }
    // Whether this plan has given the job something.
    bool is_given_now(JobId job) const { return given_now_.contains(job); }
    // Jobs that started on what was reserved for them.
    const JobSet& started_reserved() const { return started_reserved_; }
    bool has_untouchable() const { return has_untouchable_; }
    // Whether work is asked to leave, so that GPUs may be left over.
    bool frees_gpus() const { return !plan_.pauses.empty() || !plan_.moves.empty(); }

  private:
    // Until all have left that leave where the job is to start, and itself where it moves.
    TimePoint reserved_until(JobId job, std::span<const model::TaskPlacement> tasks) const;

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
    JobSet given_now_;
    JobSet started_now_;  // start on idle GPUs: they have nothing to lose yet
    JobSet started_reserved_;
    JobSet unseen_;
    JobSet moved_;
    Withdrawals withdrawals_;
    bool has_untouchable_;
};

}  // namespace berth::scheduling
