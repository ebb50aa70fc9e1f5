// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims/unit_prices.h"

#include <algorithm>
#include <functional>

namespace berth::scheduling {

using cluster::LossKey;

void UnitPrices::open(const PoolView& view, VictimUnits& units) {
    view_ = &view;
    units_ = &units;
    books_.resize(view.cluster.projects().size());
    for (auto& of_project : books_) {
        for (Book& book : of_project) {
            book.is_current = false;
            book.rungs.clear();
            if (book.is_cut) book.lists = {};
        }
    }
}

void UnitPrices::forget(ProjectId project) {
    for (Book& book : books_[project.index()]) book.is_current = false;
}

std::int64_t UnitPrices::own_cost(const VictimUnit& unit) const {
    return unit.price_at(view_->now);
}

std::int64_t UnitPrices::own_cost(const LossKey& next) const {
    return cluster::unsaved_gpu_ms(next.stopped, next.loses_from, view_->now) + next.restart_gpu_ms;
}

std::int64_t UnitPrices::lost(const Terms& terms, std::size_t position,
                              std::optional<std::int64_t> takes_back) {
    const VictimUnit& unit = (*units_)[position];
    if (unit.is_started_now) return 0;
    if (takes_back && unit.gpus > MilliGpu{0}) return own_cost(unit) + *takes_back;
    return own_cost(unit) + below(book(terms, unit.project), unit.priority_key);
}

std::int64_t UnitPrices::least_lost(const Terms& terms, ProjectId project, const LossKey& next,
                                    std::optional<std::int64_t> takes_back) {
    if (takes_back && next.gpus > MilliGpu{0}) return own_cost(next) + *takes_back;
    return own_cost(next) + below(book(terms, project), next.priority_key);
}

std::int64_t UnitPrices::below(const Book& book, const cluster::PriorityKey& priority_key) {
    const auto at = std::ranges::lower_bound(book.rungs, priority_key, {}, &Rung::priority_key);
    return at == book.rungs.begin() ? 0 : std::prev(at)->up_to;
}

std::span<const UnitPrices::Group> UnitPrices::groups(const Terms& terms, ProjectId project) {
    const std::vector<Group>& groups = book(terms, project).groups;
    if (!terms.from_own) return groups;
    const auto end = std::ranges::lower_bound(
        groups, terms.priority_key, {}, [](const Group& group) { return group.like.priority_key; });
    return {groups.begin(), end};
}

UnitPrices::Book& UnitPrices::book(const Terms& terms, ProjectId project) {
    // Where it does not matter who asks, they are the same for all.
    Terms asked = terms;
    if (!terms.asks_who) {
        asked = {};
        asked.minimum_run = terms.minimum_run;
    }
    Book& book = books_[project.index()][terms.minimum_run ? 1 : 0];
    if (book.is_current && book.terms == asked) return book;
    const Lists lists = lists_of(asked, project);
    if (book.terms != asked || book.lists != lists) {
        book.terms = asked;
        book.lists = lists;
        book.rungs.clear();
        find_groups(book);
    }
    bring_up_to_date(book);
    return book;
}

UnitPrices::Lists UnitPrices::lists_of(const Terms& terms, ProjectId project) const {
    const cluster::Losses& losses = view_->claim(project).losses;
    const auto& lists = losses.cheapest_first;
    const bool are_left_out =
        lists[1].empty() || (terms.minimum_run && knows_protected(*view_, terms, project));
    return {&losses, losses.stamp, are_left_out ? 1 : lists.size()};
}

void UnitPrices::find_groups(Book& book) {
    book.groups.clear();
    book.is_cut = false;
    const auto& lists = book.lists.losses->cheapest_first;
    for (const auto& all : std::span(lists).first(book.lists.count)) {
        for (auto at = all.begin(); at != all.end();) {
            book.groups.push_back({&all, at, *at, &all == &lists[1]});
            at = all.from(at->last_like());
        }
    }
    if (book.lists.count > 1) std::ranges::sort(book.groups, std::less{}, &Group::like);
}

void UnitPrices::bring_up_to_date(Book& book) {
    std::vector<Rung>& rungs = book.rungs;
    const std::size_t before = rungs.size();
    rungs.clear();
    for (Group& group : book.groups) {
        std::optional<std::int64_t> least;
        for (; !group.is_over(); ++group.at) {
            least = least_left(*book.terms, group);
            if (least) break;
            book.is_cut = true;
        }
        if (!least) continue;
        if (rungs.empty() || rungs.back().priority_key != group.like.priority_key) {
            rungs.push_back({group.like.priority_key, *least, 0});
        }
        rungs.back().least = std::min(rungs.back().least, *least);
    }
    book.least.reset();
    for (std::size_t at = 0; at < rungs.size(); ++at) {
        const std::int64_t rung = rungs[at].least;
        const std::int64_t less = at == 0 ? 0 : rungs[at - 1].up_to;
        rungs[at].up_to = at == 0 ? rung : std::min(less, rung);
        book.least = std::min(book.least.value_or(rung + less), rung + less);
    }
    book.is_current = true;
    if (rungs.size() < before) ++book.falls;
}

// Of what is left of the job; nothing where these terms allow none of it. Jobs that
// start in this decision lose nothing, and no job comes back by preempting them.
std::optional<std::int64_t> UnitPrices::least_left(const Terms& terms, const Group& group) {
    const LossKey& next = *group.at;
    const bool has_to_ask = terms.minimum_run && (terms.asks_who || group.is_protected);
    if (!has_to_ask && !units_->is_cut(next.job)) {
        if (has(view_->moved, next.job)) return {};
        return own_cost(next);
    }
    const VictimUnits::Range units = units_->units_of(next.job);
    std::optional<std::int64_t> least;
    for (std::size_t at = units.first; at < units.end; ++at) {
        const VictimUnit& unit = (*units_)[at];
        const bool is_kept =
            terms.minimum_run &&
            (is_protected(*view_, terms, unit) ||
             is_started_reserved(*view_, unit, model::Rule::Preempt, unit.project));
        if (units_->is_taken(at) || is_kept || unit.is_started_now) continue;
        const std::int64_t cost = own_cost(unit);
        least = std::min(least.value_or(cost), cost);
    }
    return least;
}

}  // namespace berth::scheduling
