// SPDX-License-Identifier: Apache-2.0
//
// What work would pausing a unit destroy? That since its last save, a restart, and what its job
// destroys by coming back: the cheapest unit of less priority in its project, which it would
// preempt, or what it takes back from another project (comeback.h).
//
// In which order jobs are cheap the cluster knows (cluster/jobs/losses.h), as it was before the
// decision; here stands how far into each of its lists nothing is left. Cost: O(kinds of units)
// when the prices of a project are asked for, and again when something was taken of it; then
// O(log kinds) a question. The kinds are looked for again when its lists have changed.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "scheduling/victims/victim_units.h"

namespace berth::scheduling {

class UnitPrices {
  public:
    // Makes them ready for a decision, or another try at one. Both outlive it.
    void open(const PoolView& view, VictimUnits& units);
    // Says that something was taken of the project.
    void forget(ProjectId project);

    // In GPU-milliseconds.
    std::int64_t lost(const Terms& terms, std::size_t unit,
                      std::optional<std::int64_t> takes_back = {});
    // The least that pausing any unit of the project destroys; nothing when none may be.
    std::optional<std::int64_t> least_lost(const Terms& terms, ProjectId project) {
        return book(terms, project).least;
    }

    // Jobs of one project whose next units lose the same with every second since their last save,
    // the cheapest first, without those at the beginning that are protected or taken.
    struct Group {
        const base::SortedRuns<cluster::LossKey>* all;
        base::SortedRuns<cluster::LossKey>::Iterator at;
        cluster::LossKey like;
        bool is_protected = false;  // by minimum runs, as the account says

        bool is_over() const { return at == all->end() || !at->is_alike(like); }
    };
    std::span<const Group> groups(const Terms& terms, ProjectId project);
    // The least that pausing any unit of this job of the project destroys, as it was found.
    std::int64_t least_lost(const Terms& terms, ProjectId project, const cluster::LossKey& next,
                            std::optional<std::int64_t> takes_back);
    // How often prices of the project fell in this decision: its last work of some priority went,
    // which other work would have come back by preempting.
    int falls(const Terms& terms, ProjectId project) { return book(terms, project).falls; }

  private:
    // Of one priority, coming back left aside.
    struct Rung {
        cluster::PriorityKey priority_key;
        std::int64_t least;  // that pausing one destroys
        std::int64_t up_to;  // the least of this and of all less priority
    };
    // Those of a project's lists whose jobs are looked at, as they are.
    struct Lists {
        const cluster::Losses* losses = nullptr;
        std::uint64_t stamp = 0;
        std::size_t count = 0;

        bool operator==(const Lists&) const = default;
    };
    // Of one project.
    struct Book {
        std::optional<Terms> terms;  // who asked last
        Lists lists;  // of the groups
        bool is_cut = false;  // what is taken or protected is left out at their beginning
        bool is_current = false;  // of this decision, and nothing was taken since
        std::vector<Group> groups;
        std::vector<Rung> rungs;
        std::optional<std::int64_t> least;  // of all rungs, with what comes back by preempting
        int falls = 0;
    };

    Book& book(const Terms& terms, ProjectId project);
    Lists lists_of(const Terms& terms, ProjectId project) const;
    static void find_groups(Book& book);
    void bring_up_to_date(Book& book);
    std::optional<std::int64_t> least_left(const Terms& terms, const Group& group);
    static std::int64_t below(const Book& book, const cluster::PriorityKey& priority_key);
    std::int64_t own_cost(const VictimUnit& unit) const;
    std::int64_t own_cost(const cluster::LossKey& next) const;

    const PoolView* view_ = nullptr;
    VictimUnits* units_ = nullptr;
    std::vector<std::array<Book, 2>> books_;  // by project; [1]: where minimum runs bind
};

}  // namespace berth::scheduling
