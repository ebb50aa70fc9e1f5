// SPDX-License-Identifier: Apache-2.0
//
// What has this decision decided so far? The plan and the cluster in step: what is written into
// the plan is true of the cluster at once, inside the caller's Trial.
#pragma once

#include <map>
#include <memory_resource>
#include <span>
#include <vector>

#include "cluster/cluster.h"
#include "model/plan.h"
#include "model/policy.h"
#include "scheduling/piece.h"

namespace berth::scheduling {

class PlanDraft {
  public:
    PlanDraft(cluster::Cluster& cluster, const model::Policy& policy, TimePoint now,
              std::pmr::memory_resource* memory)
        : cluster_(cluster),
          policy_(policy),
          now_(now),
          start_of_(memory),
          winners_(memory),
          honoured_(memory) {}

    cluster::Cluster& cluster() { return cluster_; }
    TimePoint now() const { return now_; }
    const model::Plan& plan() const { return plan_; }
    model::Plan take_plan() { return std::move(plan_); }

    // Tasks of one job that start by one rule stand in one line, whenever they were decided.
    void start(JobId job, PoolId pool, model::Rule rule,
               std::span<const model::TaskPlacement> tasks);
    // What was promised to it is free: it starts there.
    void start_from_hold(JobId job);
    void reserve(JobId job, PoolId pool, model::Rule rule,
                 std::span<const model::TaskPlacement> tasks);
    void drop_hold(JobId job);
    // Pieces of one job for one beneficiary, taken one after the other, are one pause.
    void pause(const Piece& piece, model::Rule rule, JobId beneficiary, bool is_wasteful);
    void pause(const model::Pause& pause);
    // Whole jobs leave and are promised other places, which may be each other's.
    void move(std::span<const model::Move> moves, PoolId pool);
    // A job that one pause of this plan takes as a whole, and that was found another place, moves
    // instead.
    void move_instead(JobId job, PoolId pool, std::span<const model::TaskPlacement> tasks);

    void wake_at(TimePoint time);
    // Whether the job was given something in this plan.
    bool is_winner(JobId job) const { return winners_.contains(job); }
    const JobSet& winners() const { return winners_; }
    // Who starts as it was promised to.
    const JobSet& honoured() const { return honoured_; }
    // Whether somebody starts whose start makes room. A frozen job gives up host memory that was
    // kept for it, and then it may grow. A share may lessen what is set aside for the fixed quota
    // of its project by more than what it takes of the pool.
    bool has_opening_start() const;
    // Whether somebody is asked to leave, so that GPUs may be left over.
    bool frees_gpus() const { return !plan_.pauses.empty() || !plan_.moves.empty(); }

  private:
    cluster::Cluster& cluster_;
    const model::Policy& policy_;
    TimePoint now_;
    model::Plan plan_;
    // Position in plan_.starts.
    std::pmr::map<std::pair<JobId, model::Rule>, std::size_t> start_of_;
    JobSet winners_;
    JobSet honoured_;
};

}  // namespace berth::scheduling
