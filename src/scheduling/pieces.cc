// SPDX-License-Identifier: Apache-2.0
#include "scheduling/pieces.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/gpu_time.h"
#include "scheduling/reclaim.h"

namespace berth::scheduling {
namespace {

std::int64_t unsaved_gpu_ms(MilliGpu gpus, TimePoint last_saved, TimePoint now) {
    return base::gpu_ms(gpus, std::max(now - last_saved, model::Duration{0}));
}

}  // namespace

int Piece::gpus_on(NodeId node) const {
    int count = 0;
    for (const model::TaskPlacement& task : tasks) {
        if (task.node == node) count += std::popcount(task.gpu_mask);
    }
    return count;
}

cluster::VictimKey Piece::key() const { return {precedence, stage_of_job, created, job}; }

model::PauseCost Piece::cost_at(TimePoint time) const {
    if (is_fresh) return {};
    return {unsaved_gpu_ms(stopped, last_saved, time), restart_gpu_ms};
}

model::PauseCost pause_cost(const cluster::Job& job, MilliGpu gpus, TimePoint now) {
    return {unsaved_gpu_ms(gpus, job.last_saved, now), base::gpu_ms(gpus, job.restart_cost)};
}

// Unless it binds everybody, the minimum run binds a project that wants more than its quota, never
// an owner who wants back what is his; inside a project it binds batch work, never interactive.
Terms terms_of(const PoolView& view, const Beneficiary& beneficiary) {
    const cluster::Job& job = beneficiary.job;
    const bool binds_all = view.policy.min_run_binds_all;
    if (beneficiary.rule == model::Rule::Preempt) {
        const bool counts =
            !has_ranks(view.cluster, job.project) || are_minimum_runs_stated(view.cluster);
        const bool binds = counts && (binds_all || job.preemptible);
        return {true, job.project, job.precedence_in_line(), binds};
    }
    const bool is_owner = is_within_quota(view, job.project, beneficiary.amount);
    return {false, job.project, {}, binds_all || !is_owner};
}

void PieceTable::open(const PoolView& view) {
    // The minimum run is the policy's.
    if (policy_ != view.policy) {
        base::ChangeLog<NodeId> log = std::move(changed_nodes_);
        *this = PieceTable();
        changed_nodes_ = std::move(log);
        changed_nodes_.restart();
    }
    view_ = &view;
    policy_ = view.policy;
    cuts_.resize(view.cluster.projects().size());
    heads_.resize(view.cluster.nodes().size(), kNoLink);
    project_says_ = has_minimum_runs(view.cluster);
    for (Cut& cut : cuts_) cut.is_ready = false;
}

std::span<PieceTable::Class> PieceTable::classes(const Terms& terms, ProjectId project) {
    std::vector<Class>& classes = cut(project).classes;
    if (!terms.from_own) return classes;
    const auto end = std::ranges::lower_bound(classes, terms.precedence, {}, &Class::precedence);
    return {classes.begin(), end};
}

PieceTotals PieceTable::totals(const Terms& terms, ProjectId project) {
    std::optional<PieceTotals>& known = cut(project).totals;
    const bool are_for_all = !terms.from_own && !asks_who(terms);
    if (are_for_all && known) return *known;
    PieceTotals totals;
    for (const Class& alike : classes(terms, project)) {
        for (std::size_t which = 0; which < alike.count.size(); ++which) {
            totals.count[which] += alike.count[which];
            totals.gpus[which] += alike.gpus[which];
        }
        totals.largest = std::max(totals.largest, alike.largest);
        const auto until = protected_until(terms, alike);
        if (until)
            totals.protected_until = std::min(totals.protected_until.value_or(*until), *until);
    }
    if (are_for_all) known = totals;
    return totals;
}

std::vector<PieceTable::Group>& PieceTable::groups(Class& alike) {
    if (alike.has_groups) return alike.groups;
    alike.has_groups = true;
    const TimePoint now = cuts_[pieces_[alike.order.front()].project.index()].now;
    for (const std::size_t position : alike.order) {
        Group& group = group_of(alike, pieces_[position]);
        group.cheapest_first[0].push_back(position);
        if (!is_shielded(pieces_[position], now)) group.cheapest_first[1].push_back(position);
    }
    for (Group& group : alike.groups) {
        for (FewPieces& pieces : group.cheapest_first) {
            std::ranges::sort(pieces, Cheaper{*this});
        }
    }
    return alike.groups;
}

Choice PieceTable::allowed(const Terms& terms, std::span<const ProjectId> projects) {
    Choice found;
    for (const ProjectId project : projects) {
        for (const Class& alike : classes(terms, project)) {
            for (std::size_t i = alike.next; i < alike.order.size(); ++i) {
                if (allows(terms, alike.order[i])) found.push_back(alike.order[i]);
            }
        }
    }
    return found;
}

bool PieceTable::allows(const Terms& terms, std::size_t position) const {
    const Piece& piece = pieces_[position];
    // What was cut for an earlier decision only may be of jobs that have ended.
    const bool is_of_now = cuts_[piece.project.index()].is_ready;
    if (is_gone_[position] || !is_of_now || is_protected(terms, piece)) return false;
    if (has(view_->spared, piece.job)) return false;
    const bool keeps = terms.minimum_run || is_by_rank(terms);
    if (keeps && is_honoured(piece, terms.rule(), terms.project)) return false;
    return !terms.from_own ||
           (piece.project == terms.project && piece.precedence < terms.precedence);
}

// Others were paused for it, so its minimum run begins as soon as it starts.
bool PieceTable::is_honoured(const Piece& piece, model::Rule rule, ProjectId asking) const {
    if (!piece.takes_core || !has(view_->honoured, piece.job)) return false;
    const cluster::Job& job = view_->cluster.job(piece.job);
    return scheduling::protected_until(*view_, job, rule, asking) > job.last_start;
}

std::int64_t PieceTable::own_cost(const Piece& piece) const {
    const model::PauseCost cost = piece.cost_at(view_->now);
    return cost.unsaved_gpu_ms + cost.restart_gpu_ms;
}

std::int64_t PieceTable::lost(const Terms& terms, std::size_t position,
                              std::optional<std::int64_t> takes_back) {
    const Piece& piece = pieces_[position];
    if (piece.is_fresh) return 0;
    if (takes_back && piece.gpus > MilliGpu{0}) return own_cost(piece) + *takes_back;
    std::vector<Class>& classes = cuts_[piece.project.index()].classes;
    const auto at = static_cast<std::size_t>(&class_of(piece) - classes.data());
    return own_cost(piece) + cheapest_below(classes, at, terms);
}

std::optional<std::int64_t> PieceTable::least_lost(const Terms& terms, ProjectId project) {
    auto& known = cut(project).least_lost;
    const bool is_for_all = terms.minimum_run && !terms.from_own && !asks_who(terms);
    if (is_for_all && known) return *known;
    const std::span<Class> all = classes(terms, project);
    std::optional<std::int64_t> least;
    for (std::size_t at = 0; at < all.size(); ++at) {
        const auto cheapest = cheapest_in(all[at], terms);
        if (!cheapest) continue;
        const std::int64_t lost = *cheapest + cheapest_below(all, at, terms);
        least = std::min(least.value_or(lost), lost);
    }
    if (is_for_all) known = least;
    return least;
}

// Of the classes before this one; nothing when nothing is left there.
std::int64_t PieceTable::cheapest_below(std::span<Class> classes, std::size_t at,
                                        const Terms& terms) {
    std::optional<std::int64_t>& known = classes[at].below[terms.minimum_run ? 1 : 0];
    if (known && !asks_who(terms)) return *known;
    std::optional<std::int64_t> least;
    for (Class& lower : classes.first(at)) {
        const auto cheapest = cheapest_in(lower, terms);
        if (cheapest) least = std::min(least.value_or(*cheapest), *cheapest);
    }
    known = least.value_or(0);
    return *known;
}

TimePoint PieceTable::protected_until(const Terms& terms, const Piece& piece) const {
    const cluster::Job& job = view_->cluster.job(piece.job);
    return (is_by_rank(terms) ? scheduling::protected_by_statement : scheduling::protected_until)(
        *view_, job, terms.rule(), terms.project);
}

bool PieceTable::is_protected(const Terms& terms, const Piece& piece) const {
    if (!terms.minimum_run) return false;
    if (!asks_who(terms)) return is_shielded(piece, view_->now);
    return piece.takes_core && !piece.is_fresh && protected_until(terms, piece) > view_->now;
}

std::optional<TimePoint> PieceTable::protected_until(const Terms& terms, const Class& alike) const {
    if (!asks_who(terms)) {
        if (alike.shielded.empty()) return {};
        return pieces_[alike.shielded.back()].protected_until;
    }
    std::optional<TimePoint> first;
    if (!terms.minimum_run) return first;
    for (const std::size_t piece : alike.order) {
        if (!is_protected(terms, pieces_[piece])) continue;
        const TimePoint until = protected_until(terms, pieces_[piece]);
        first = std::min(first.value_or(until), until);
    }
    return first;
}

std::optional<std::int64_t> PieceTable::cheapest_in(Class& from, const Terms& terms) {
    std::optional<std::int64_t> least;
    for (Group& group : groups(from)) {
        if (group.is_fresh) continue;
        // Where who asks matters, what one may not take another may: nothing is passed for good.
        const std::size_t which = count_for(terms);
        std::size_t here = 0;
        std::size_t& at = asks_who(terms) ? here : group.left[which];
        for (; at < group.cheapest_first[which].size(); ++at) {
            const std::size_t position = group.cheapest_first[which][at];
            const Piece& piece = pieces_[position];
            const bool is_kept =
                terms.minimum_run && (is_honoured(piece, model::Rule::Preempt, piece.project) ||
                                      (asks_who(terms) && is_protected(terms, piece)));
            if (is_gone_[position] || is_kept) continue;
            const std::int64_t cost = own_cost(piece);
            least = std::min(least.value_or(cost), cost);
            break;
        }
    }
    return least;
}

bool PieceTable::comes_before(std::size_t piece, std::size_t other) const {
    const Piece& left = pieces_[piece];
    const Piece& right = pieces_[other];
    if (left.project != right.project) return left.project < right.project;
    return left.job == right.job ? piece < other : left.key() < right.key();
}

bool PieceTable::is_of_same_job(std::size_t piece, std::size_t other) const {
    return other < pieces_.size() && pieces_[other].job == pieces_[piece].job;
}

std::size_t PieceTable::first_of_job(std::size_t piece) const {
    while (piece > 0 && is_of_same_job(piece, piece - 1) && !is_gone_[piece - 1]) --piece;
    return piece;
}

PieceTable::Class& PieceTable::class_of(const Piece& piece) {
    std::vector<Class>& classes = cuts_[piece.project.index()].classes;
    return *std::ranges::lower_bound(classes, piece.precedence, {}, &Class::precedence);
}

bool PieceTable::strike_out(std::size_t position) {
    const Piece& piece = pieces_[position];
    Cut& cut = cuts_[piece.project.index()];
    Class& alike = class_of(piece);
    is_gone_[position] = true;
    note_nodes(piece);
    cut.strikes.push_back(position);
    cut.totals.reset();
    cut.least_lost.reset();
    const std::size_t next = position + 1;
    const bool is_surplus_gone = is_of_same_job(position, next) && pieces_[next].takes_whole_job;
    if (is_surplus_gone) lower_stage(alike, next);
    while (alike.next < alike.order.size() && is_gone_[alike.order[alike.next]]) ++alike.next;
    count(alike, piece, -1, cut.now);
    for (Class& higher : cut.classes) higher.below = {};
    const bool has_higher = &alike != &cut.classes.back();
    return has_higher && (alike.count[0] == 0 || alike.count[1] == 0);
}

// A job that lost its surplus stands among those at their minimum from now on.
void PieceTable::lower_stage(Class& alike, std::size_t core) {
    pieces_[core].stage = std::min(pieces_[core].stage, 1);
    const auto key = [&](std::size_t piece) {
        const Piece& of = pieces_[piece];
        return cluster::VictimKey{of.precedence, of.stage, of.created, of.job};
    };
    auto from = std::ranges::find(alike.order, core);
    auto to = from + 1;
    while (to != alike.order.end() && (is_gone_[*to] || key(*to) < key(core))) ++to;
    std::rotate(from, from + 1, to);
}

}  // namespace berth::scheduling
