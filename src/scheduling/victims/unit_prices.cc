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
        for (Book& book : of_project) book.terms.reset();
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

std::optional<std::int64_t> UnitPrices::least_lost(const Terms& terms, ProjectId project) {
    std::optional<std::int64_t> least;
    const Book& book = this->book(terms, project);
    for (const Rung& rung : book.rungs) {
        const std::int64_t lost = rung.least + below(book, rung.priority_key);
        least = std::min(least.value_or(lost), lost);
    }
    return least;
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
    if (book.terms != asked) {
        book.terms = asked;
        book.is_current = false;
        book.rungs.clear();
        find_groups(book, project);
    }
    if (!book.is_current) bring_up_to_date(book);
    return book;
}

void UnitPrices::find_groups(Book& book, ProjectId project) const {
    book.groups.clear();
    const auto& losses = view_->claim(project).losses.cheapest_first;
    const Terms& terms = *book.terms;
    const bool are_left_out =
        losses[1].empty() || (terms.minimum_run && knows_protected(*view_, terms, project));
    const std::size_t lists = are_left_out ? 1 : losses.size();
    for (const auto& all : std::span(losses).first(lists)) {
        for (auto at = all.begin(); at != all.end();) {
            book.groups.push_back({&all, at, *at, &all == &losses[1]});
            at = all.from(at->last_like());
        }
    }
    if (lists > 1) std::ranges::sort(book.groups, std::less{}, &Group::like);
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
        }
        if (!least) continue;
        if (rungs.empty() || rungs.back().priority_key != group.like.priority_key) {
            rungs.push_back({group.like.priority_key, *least, 0});
        }
        rungs.back().least = std::min(rungs.back().least, *least);
    }
    for (std::size_t at = 0; at < rungs.size(); ++at) {
        rungs[at].up_to =
            at == 0 ? rungs[at].least : std::min(rungs[at - 1].up_to, rungs[at].least);
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
