// SPDX-License-Identifier: Apache-2.0
//
// Which running work of a pool could be paused, in which pieces, and what would each cost?
// The surplus tasks of an elastic job, those above the minimum of their group, are pieces of their
// own, highest rank first, then its core gang is one. Not asked here: how many of them together
// (reclaim.h) and which of them (victims.h).
//
// One table serves all the evictions of a decision: a project's work is cut when somebody may take
// from it for the first time, and what was taken is struck out. It may serve the next decision
// about the same cluster too: a project is cut again when its work has changed, else priced again.
// Trusts: nothing starts while the table is open for a decision. Cost: O(running tasks of a
// project) when it is cut, a fraction of that when it is priced, then O(1) a question.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "scheduling/pool_view.h"

namespace berth::scheduling {

struct Piece {
    JobId job;
    ProjectId project;
    cluster::Precedence precedence;
    int stage = 0;  // of its job (rule R3), now
    int stage_of_job = 0;  // before anything was taken of it
    TimePoint created;  // of its job
    bool takes_whole_job = true;
    bool takes_core = true;  // or all of it has to stop for it
    bool is_fresh = false;  // its job starts in this very decision: nothing is lost
    bool is_protected = false;  // by its job's minimum run, whoever asks; see is_protected()
    std::span<const model::TaskPlacement> tasks;  // all running
    std::span<const int> ranks;  // theirs
    MilliGpu gpus{0};  // as they count in quotas and shares
    MilliGpu stopped{0};  // GPUs whose unsaved work goes with it
    TimePoint protected_until;  // its job, by its minimum run
    TimePoint last_saved;  // its job
    model::PauseCost cost;
};

// Who wants to start, and by which right.
struct Beneficiary {
    const cluster::Job& job;
    int tasks = 1;
    MilliGpu amount{0};
    model::Rule rule = model::Rule::Reclaim;
    cluster::Region within = {};  // where it is to start
};

// What one beneficiary may take, the ledger left aside.
struct Terms {
    bool from_own = false;  // preemption: its own project's work of less precedence
    ProjectId project;  // its own
    cluster::Precedence precedence;  // its own when it preempts
    bool minimum_run = false;  // protected pieces are left alone

    auto operator<=>(const Terms&) const = default;
};
Terms terms_of(const PoolView& view, const Beneficiary& beneficiary);

class PieceTable {
  public:
    PieceTable() = default;
    PieceTable(PieceTable&&) = default;  // its pieces point into it: it is never copied
    PieceTable& operator=(PieceTable&&) = default;

    // Makes it ready for a decision, or another try at one. The view outlives the decision.
    void open(const PoolView& view);

    // Pieces that lose the same with every second since their last save, whatever the time: the
    // cheapest first now is the cheapest first always.
    struct Group {
        MilliGpu gpus{0};  // of each of them
        std::vector<std::size_t> cheapest_first;
    };
    // The pieces of one project that have one precedence; `order` is the victim order (R8). What is
    // left of them is counted twice: [0] all, [1] without the protected ones.
    struct Class {
        cluster::Precedence precedence;
        std::vector<std::size_t> order;
        std::size_t next = 0;  // position in order: nothing is left before
        std::array<std::int64_t, 2> count{};
        std::array<MilliGpu, 2> gpus{};
        MilliGpu largest{0};  // of all there ever were
        std::optional<TimePoint> protected_until;
        std::vector<Group> groups;  // made when somebody asks
        std::vector<std::size_t> by_cost;  // made when a greater precedence asks
        std::array<std::size_t, 2> cheapest{};  // positions in by_cost: nothing is left before
        std::array<std::optional<std::int64_t>, 2> below;  // least cost in the classes before it
    };

    // The classes of a project that the terms reach, least precedence first.
    std::span<Class> classes(const Terms& terms, ProjectId project);
    // The pieces of a class, as cut: taken and protected ones included.
    const std::vector<Group>& groups(Class& alike) const;
    // All pieces that the terms allow from these projects, in order of project and victim order.
    std::vector<std::size_t> allowed(const Terms& terms, std::span<const ProjectId> projects);

    const Piece& operator[](std::size_t piece) const { return pieces_[piece]; }
    bool allows(const Terms& terms, std::size_t piece) const;
    // By which of the two counts of a class is summed: the one that never says too little.
    std::size_t count_for(const Terms& terms) const {
        return terms.minimum_run && !asks_who_ ? 1 : 0;
    }
    // When the first piece of the class may be taken that its minimum run protects now.
    std::optional<TimePoint> protected_until(const Terms& terms, const Class& alike) const;
    // What pausing it destroys. When its project runs work of less precedence, that includes the
    // cheapest such piece: the job would come back by preempting it.
    std::int64_t cost(const Terms& terms, std::size_t piece);
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
        bool has_strikes = false;
        TimePoint priced;  // when
        std::size_t first = 0;  // position of its pieces
        std::size_t room = 0;  // positions kept for them
        std::vector<Class> classes;
        std::vector<model::TaskPlacement> tasks;  // of its pieces
        std::vector<int> ranks;
    };

    Cut& cut(ProjectId project);
    void cut(Cut& into, ProjectId project);
    void cut(Cut& into, const cluster::Job& job);
    void add_piece(Cut& into, const cluster::Job& job, std::size_t first, std::size_t count);
    void settle(Cut& cut);
    void restore(Cut& cut);
    void price(Cut& cut);
    void price(Class& alike, Piece& piece) const;
    void stand_on_nodes(std::size_t piece);
    void leave_nodes(std::size_t piece);
    Class& class_of(const Piece& piece);
    void lower_stage(Class& alike, std::size_t core);
    std::int64_t cheapest_below(std::span<Class> classes, std::size_t at, const Terms& terms);
    std::optional<std::int64_t> cheapest_in(Class& from, const Terms& terms);
    TimePoint protected_until(const Terms& terms, const Piece& piece) const;
    bool is_protected(const Terms& terms, const Piece& piece) const;
    bool is_honoured(const Piece& piece) const;

    const PoolView* view_ = nullptr;
    std::optional<model::Policy> policy_;  // of the last decision
    bool asks_who_ = false;  // projects say minimum runs: who asks decides what is protected
    std::vector<const cluster::Job*> jobs_;  // of the project that is being cut
    std::vector<Piece> fresh_cut_;  // likewise
    std::vector<Piece> pieces_;
    std::vector<bool> is_gone_;
    std::vector<Cut> cuts_;  // by project
    std::vector<Link> heads_;  // by node
    std::vector<Standing> links_;
    Link free_link_ = kNoLink;  // links that are not in use
};

// What pausing so much of the job now destroys.
model::PauseCost pause_cost(const cluster::Job& job, MilliGpu gpus, TimePoint now);

}  // namespace berth::scheduling
