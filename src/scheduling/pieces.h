// SPDX-License-Identifier: Apache-2.0
//
// In which pieces could running work of a pool be paused, and what would each cost? The units of a
// job (cluster/units.h), with what a decision asks of them. Not asked here: how many of them
// together (reclaim.h) and which of them (victims.h).
//
// A job is cut when somebody looks at it for the first time; what was taken is struck out. In which
// order pieces are cheap the cluster knows (cluster/losses.h), as it was before the decision; here
// stands only how far into each of its lists nothing is left.
// Trusts: nothing starts while the table is open. Cost: O(tasks) of a job, once; O(kinds of
// pieces) when the prices of a project are asked for, and again when something was struck out; then
// O(1) a question.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "cluster/hash_index.h"
#include "cluster/units.h"
#include "scheduling/minimum_run.h"
#include "scheduling/piece.h"

namespace berth::scheduling {

class PieceTable {
  public:
    // Makes it ready for a decision, or another try at one. The view outlives the decision.
    void open(const PoolView& view);

    // Positions of neighbours in the table.
    struct Range {
        std::size_t first = 0;
        std::size_t end = 0;
    };
    // The pieces of a job, as cut: taken and protected ones included; none of one that cannot be
    // paused in this pool.
    Range of(JobId job);
    const Piece& operator[](std::size_t piece) const { return pieces_[piece]; }
    std::size_t size() const { return pieces_.size(); }
    // The first piece that is left of the same job.
    std::size_t first_of_job(std::size_t piece) const;
    bool is_of_same_job(std::size_t piece, std::size_t other) const;
    // Whose turn comes first where nothing else decides: by project, then in victim order.
    bool comes_before(std::size_t piece, std::size_t other) const;
    // Those that stand on the node, until the next question.
    std::span<const std::size_t> on(NodeId node);

    bool allows(const Terms& terms, std::size_t piece) const;
    // All pieces that the terms allow from these projects, in order of project and victim order.
    Choice allowed(const Terms& terms, std::span<const ProjectId> projects);
    // The same where they are at most so many, as far as the first few jobs tell.
    std::optional<Choice> few_allowed(const Terms& terms, std::span<const ProjectId> projects,
                                      std::size_t most);
    // At most so much of the project may be taken.
    MilliGpu most_allowed(const Terms& terms, ProjectId project) const;
    // When the first job may be paused that its minimum run protects now.
    std::optional<TimePoint> protected_until(const Terms& terms, ProjectId project) const;

    // Work that pausing it destroys, in GPU-milliseconds, with that which its job destroys by
    // coming back: what `takes_back` says, else the cheapest piece of less precedence in its
    // project, which it would preempt.
    std::int64_t lost(const Terms& terms, std::size_t piece,
                      std::optional<std::int64_t> takes_back = {});
    // The least that pausing any piece of the project destroys, likewise; nothing when none may be.
    std::optional<std::int64_t> least_lost(const Terms& terms, ProjectId project);

    // Jobs of one project whose next pieces lose the same with every second since their last save,
    // the cheapest first, without those at the beginning that are protected or gone.
    struct Group {
        const base::SortedRuns<cluster::LossKey>* all;
        base::SortedRuns<cluster::LossKey>::Iterator at;
        cluster::LossKey like;

        bool is_over() const { return at == all->end() || !at->is_alike(like); }
    };
    std::span<const Group> groups(const Terms& terms, ProjectId project);
    // The least that pausing any piece of this job of the project destroys, as it was found.
    std::int64_t least_lost(const Terms& terms, ProjectId project, const cluster::LossKey& next,
                            std::optional<std::int64_t> takes_back);
    // How often prices of the project fell in this decision: its last work of some precedence went,
    // which other work would have come back by preempting.
    int price_falls(const Terms& terms, ProjectId project) { return prices(terms, project).falls; }

    void strike_out(std::size_t piece);

  private:
    // Where the positions of the pieces of a node begin.
    struct OnNode {
        std::uint64_t opened = 0;  // when they were looked up
        std::size_t first = 0;
        std::size_t count = 0;
    };
    // A job as it is cut; its pieces point into it.
    struct Cut {
        cluster::Units units;
        base::SmallVector<int, 4> ranks;
    };
    // Of one precedence, coming back left aside.
    struct Rung {
        cluster::Precedence precedence;
        std::int64_t least;  // that pausing one destroys
        std::int64_t up_to;  // the least of this and of all less precedence
    };
    // What prices in one project are made of.
    struct Prices {
        std::optional<Terms> terms;  // nothing: not asked for in this decision
        bool are_current = false;  // nothing was struck out since
        std::vector<Group> groups;
        std::vector<Rung> rungs;
        int falls = 0;
    };

    int jobs_allowed(const Terms& terms, std::span<const ProjectId> projects) const;
    // Whether all were looked at.
    bool gather(const Terms& terms, std::span<const ProjectId> projects, Choice& found,
                auto&& is_enough);
    Prices& prices(const Terms& terms, ProjectId project);
    void find_groups(Prices& prices, ProjectId project) const;
    void bring_up_to_date(Prices& prices);
    std::optional<std::int64_t> least_left(const Terms& terms, const cluster::LossKey& next);
    static std::int64_t below(const Prices& prices, const cluster::Precedence& precedence);
    Piece piece_of(const cluster::Job& job, const Cut& cut, std::size_t unit) const;
    bool leaves_out_protected(const Terms& terms, ProjectId project) const;
    bool is_by_rank(const Terms& terms) const {
        return terms.from_own && has_ranks(view_->cluster, terms.project);
    }
    // Whether what is protected depends on who asks.
    bool asks_who(const Terms& terms) const { return project_says_ || is_by_rank(terms); }
    std::int64_t own_cost(const Piece& piece) const;
    TimePoint protected_until(const Terms& terms, const cluster::Job& job) const;
    bool is_protected(const Terms& terms, const Piece& piece) const;
    bool is_honoured(const Piece& piece, model::Rule rule, ProjectId asking) const;

    const PoolView* view_ = nullptr;
    bool project_says_ = false;  // a minimum run: who asks decides what is protected
    std::vector<Piece> pieces_;
    std::vector<bool> is_gone_;  // taken by this decision
    std::deque<Cut> cuts_;  // those in use, then those whose memory is kept
    std::size_t cuts_used_ = 0;
    cluster::HashIndex of_job_;  // the position of its first piece
    std::uint64_t opened_ = 0;  // so often
    std::vector<OnNode> on_node_;  // by node
    std::vector<std::size_t> positions_;  // on one node after the other
    std::vector<std::array<Prices, 2>> prices_;  // by project; [1]: where minimum runs bind
};

// What pausing so much of the job now destroys.
model::PauseCost pause_cost(const cluster::Job& job, MilliGpu gpus, TimePoint now);

}  // namespace berth::scheduling
