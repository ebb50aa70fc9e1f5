// SPDX-License-Identifier: Apache-2.0
//
// Which units of running work does a decision know, and which of them has it taken? A job of the
// pool is cut into units when it is looked at for the first time.
//
// Trusts: nothing that is to be seen starts while the table is open. Cost: O(tasks) of a job, once;
// then O(1) a question.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "cluster/jobs/units.h"
#include "cluster/nodes/hash_index.h"
#include "scheduling/rights/victim_terms.h"

namespace berth::scheduling {

class VictimUnits {
  public:
    // Makes it ready for a decision, or another try at one. The view outlives the decision.
    void open(const PoolView& view);

    // Positions of neighbours in the table.
    struct Range {
        std::size_t first = 0;
        std::size_t end = 0;
    };
    // The units of a job, as cut: taken ones included; none of one that cannot be paused.
    Range units_of(JobId job);
    bool is_cut(JobId job) const { return first_of(job) != cluster::HashIndex::kNone; }
    // Those that stand on the node, until the next question.
    std::span<const std::size_t> on(NodeId node);
    const VictimUnit& operator[](std::size_t unit) const { return units_[unit]; }
    std::size_t size() const { return units_.size(); }
    // The first unit that is left of the same job.
    std::size_t first_of_job(std::size_t unit) const;
    bool is_of_same_job(std::size_t unit, std::size_t other) const;
    // Whose turn comes first where nothing else decides: by project, then in victim order.
    bool comes_before(std::size_t unit, std::size_t other) const;

    bool is_taken(std::size_t unit) const { return is_taken_[unit]; }  // by this decision
    void take(std::size_t unit) { is_taken_[unit] = true; }
    void take_all(JobId job);
    // Says that more jobs are to be seen.
    void look_again() { ++opened_; }
    bool allows(const Terms& terms, std::size_t unit) const {
        return !is_taken_[unit] && scheduling::allows(*view_, terms, units_[unit]);
    }
    // Whether any unit of a job is left that the terms allow, as the cluster's account of losses
    // lists it: most need not be cut to say.
    bool allows_any(const Terms& terms, JobId job, bool is_listed_as_protected);
    // All units that the terms allow from these projects, in order of project and victim order.
    Choice allowed(const Terms& terms, std::span<const ProjectId> projects);
    // The same where they are at most `count_max`, as far as the first few jobs say.
    std::optional<Choice> few_allowed(const Terms& terms, std::span<const ProjectId> projects,
                                      std::size_t count_max);

  private:
    // A job as it is cut; its units point into it.
    struct JobUnits {
        cluster::Units units;
        base::SmallVector<int, 4> ranks;
    };
    // Where the positions of the units of a node begin.
    struct OnNode {
        std::uint64_t opened = 0;  // when they were looked up
        std::size_t first = 0;
        std::size_t count = 0;
    };

    std::uint32_t first_of(JobId job) const;
    VictimUnit unit_of(const cluster::Job& job, const JobUnits& job_units,
                       std::size_t number) const;
    // Whether all were looked at.
    bool gather(const Terms& terms, std::span<const ProjectId> projects, Choice& found,
                auto&& is_enough);

    const PoolView* view_ = nullptr;
    std::vector<VictimUnit> units_;
    std::vector<bool> is_taken_;
    std::deque<JobUnits> job_units_;  // those in use, then those whose memory is kept
    std::size_t job_units_used_ = 0;
    cluster::HashIndex of_job_;  // the position of its first unit
    std::uint64_t opened_ = 0;  // so often
    std::vector<OnNode> on_node_;  // by node
    std::vector<std::size_t> positions_;  // on one node after the other
};

}  // namespace berth::scheduling
