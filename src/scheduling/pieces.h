// SPDX-License-Identifier: Apache-2.0
//
// Which running work of a pool could be paused, in which pieces, and what would each cost?
// The surplus tasks of an elastic job, those above the minimum of their group, are pieces of their
// own, highest rank first, then its core gang is one. Not asked here: how many of them together
// (reclaim.h) and which of them (victims.h).
//
// One table serves all the evictions of a decision: a project's work is cut when somebody may take
// from it for the first time, and what was taken is struck out. It may serve the next decision
// about the same cluster too: then only the jobs that changed are cut again (cluster/work_log.h).
// What a piece costs and whether it is protected is a matter of the time, so that is asked, not
// kept.
// Trusts: nothing starts while the table is open for a decision. Cost: O(running tasks of a
// project) when it is cut, O(log) of them for each job that is cut again, then O(1) a question.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/change_log.h"
#include "base/small_vector.h"
#include "scheduling/minimum_run.h"
#include "scheduling/piece.h"

namespace berth::scheduling {

class PieceTable {
  public:
    PieceTable() = default;
    PieceTable(PieceTable&&) = default;  // its pieces point into it: it is never copied
    PieceTable& operator=(PieceTable&&) = default;

    // Makes it ready for a decision, or another try at one. The view outlives the decision.
    void open(const PoolView& view);
    // On which nodes pieces came, went or were taken: base/change_log.h.
    const base::ChangeLog<NodeId>& changed_nodes() const { return changed_nodes_; }

    using Group = PieceGroup;
    using Class = PieceClass;

    // The classes of a project that the terms reach, least precedence first.
    std::span<Class> classes(const Terms& terms, ProjectId project);
    // Of the same classes together.
    PieceTotals totals(const Terms& terms, ProjectId project);
    // The pieces of a class, as cut: taken and protected ones included.
    std::vector<Group>& groups(Class& alike);
    // All pieces that the terms allow from these projects, in order of project and victim order.
    Choice allowed(const Terms& terms, std::span<const ProjectId> projects);

    std::size_t size() const { return pieces_.size(); }  // of all positions ever in use
    const Piece& operator[](std::size_t piece) const { return pieces_[piece]; }
    bool allows(const Terms& terms, std::size_t piece) const;
    bool is_gone(std::size_t piece) const { return is_gone_[piece]; }  // taken by this decision
    // By which of the two counts of a class is summed: the one that never says too little.
    std::size_t count_for(const Terms& terms) const {
        return terms.minimum_run && !asks_who(terms) ? 1 : 0;
    }
    // Work that pausing it destroys, in GPU-milliseconds, with that which its job destroys by
    // coming back: what `takes_back` says, else the cheapest piece of less precedence in its
    // project, which it would preempt.
    std::int64_t lost(const Terms& terms, std::size_t piece,
                      std::optional<std::int64_t> takes_back = {});
    // The least that pausing any piece of the project destroys, likewise; nothing when none may be.
    std::optional<std::int64_t> least_lost(const Terms& terms, ProjectId project);
    // Whose turn comes first where nothing else decides: by project, then in victim order.
    bool comes_before(std::size_t piece, std::size_t other) const;
    // The first piece that is left of the same job. Pieces of one job are neighbours.
    std::size_t first_of_job(std::size_t piece) const;
    bool is_of_same_job(std::size_t piece, std::size_t other) const;

    // Calls `visit` with every piece that stands on the node.
    template <typename Visit>
    void visit_on(NodeId node, Visit&& visit) const {
        for (Link at = heads_[node.index()]; at != kNoLink; at = links_[at].next) {
            visit(links_[at].piece);
        }
    }

    // Whether the cost of other pieces fell by it: of those that would have come back by
    // preempting this one, the last of its precedence.
    bool strike_out(std::size_t piece);

  private:
    using Link = std::uint32_t;
    static constexpr Link kNoLink = static_cast<Link>(-1);
    struct Standing {
        std::size_t piece;
        Link next;
    };
    // One project's work, cut.
    struct Cut {
        bool is_ready = false;  // for this decision
        std::optional<std::uint64_t> stamp;  // of the work as cut
        std::uint64_t mark = 0;  // in its log
        TimePoint now;  // who was shielded then
        std::vector<Class> classes;  // none of them empty
        std::vector<std::size_t> strikes;
        std::optional<PieceTotals> totals;  // of all classes, until a piece is taken
        // Likewise, of those that minimum runs do not protect: what least_lost() says.
        std::optional<std::optional<std::int64_t>> least_lost;
    };
    // Orders of positions: by cost, within a group, and of what minimum runs protect.
    struct Cheaper {
        const PieceTable& table;
        bool operator()(std::size_t left, std::size_t right) const;
    };
    struct ShieldedLonger {
        const PieceTable& table;
        bool operator()(std::size_t left, std::size_t right) const;
    };
    // The running tasks of a job, at the position of its first piece.
    struct Tasks {
        std::size_t pieces = 0;  // into which they are cut
        base::SmallVector<model::TaskPlacement, 1> tasks;
        base::SmallVector<int, 4> ranks;
    };

    Cut& cut(ProjectId project);
    void cut_whole(Cut& cut, ProjectId project);
    void cut_again(Cut& cut, ProjectId project);
    void begin(Cut& cut);
    void restore(Cut& cut);
    void add(Cut& cut, const cluster::Job& job);
    std::size_t cut_into_pieces(const cluster::Job& job);
    Piece piece_of(const cluster::Job& job, const Tasks& of, std::size_t first,
                   std::size_t count) const;
    void add(Class& alike, std::size_t piece, TimePoint now);
    void drop(Cut& cut, const cluster::VictimKey& key);
    void drop(Class& alike, std::size_t piece, TimePoint now);
    void clear(std::size_t first);
    std::size_t positions_for(std::size_t pieces, std::size_t tasks);
    std::vector<std::size_t>::iterator place_in(std::vector<std::size_t>& order,
                                                const cluster::VictimKey& key) const;
    Group& group_of(Class& alike, const Piece& piece) const;
    bool is_by_rank(const Terms& terms) const {
        return terms.from_own && has_ranks(view_->cluster, terms.project);
    }
    // Whether what is protected depends on who asks.
    bool asks_who(const Terms& terms) const { return project_says_ || is_by_rank(terms); }
    static bool is_shielded(const Piece& piece, TimePoint now);
    static void count(Class& alike, const Piece& piece, std::int64_t sign, TimePoint now);
    void note_nodes(const Piece& piece);
    void stand_on_nodes(std::size_t piece);
    void leave_nodes(std::size_t piece);
    Class& class_of(const Piece& piece);
    void lower_stage(Class& alike, std::size_t core);
    std::int64_t own_cost(const Piece& piece) const;
    std::int64_t cheapest_below(std::span<Class> classes, std::size_t at, const Terms& terms);
    std::optional<std::int64_t> cheapest_in(Class& from, const Terms& terms);
    TimePoint protected_until(const Terms& terms, const Piece& piece) const;
    std::optional<TimePoint> protected_until(const Terms& terms, const Class& alike) const;
    bool is_protected(const Terms& terms, const Piece& piece) const;
    bool is_honoured(const Piece& piece, model::Rule rule, ProjectId asking) const;

    const PoolView* view_ = nullptr;
    std::optional<model::Policy> policy_;  // of the last decision
    bool project_says_ = false;  // a minimum run: who asks decides what is protected
    std::vector<Class> spare_;  // empty ones, for their memory
    std::vector<Piece> pieces_;
    std::vector<bool> is_gone_;
    std::deque<Tasks> tasks_;  // by position; pieces point into it
    // By pieces and tasks of a job: where so many neighbours, with memory for so many, are unused.
    std::map<std::array<std::size_t, 2>, std::vector<std::size_t>> free_;
    std::vector<Cut> cuts_;  // by project
    std::vector<cluster::VictimKey> changed_;  // in the project that is cut again
    std::vector<const cluster::Job*> jobs_;  // of the project that is cut whole
    std::vector<model::TaskPlacement> running_;  // of the job that is cut
    std::vector<Link> heads_;  // by node
    std::vector<Standing> links_;
    base::ChangeLog<NodeId> changed_nodes_;
    Link free_link_ = kNoLink;  // links that are not in use
};

// What pausing so much of the job now destroys.
model::PauseCost pause_cost(const cluster::Job& job, MilliGpu gpus, TimePoint now);

}  // namespace berth::scheduling
