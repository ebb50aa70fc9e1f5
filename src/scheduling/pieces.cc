// SPDX-License-Identifier: Apache-2.0
#include "scheduling/pieces.h"

#include <algorithm>
#include <bit>

#include "scheduling/minimum_run.h"
#include "scheduling/reclaim.h"

namespace berth::scheduling {
namespace {

MilliGpu gpus_of(std::span<const model::TaskPlacement> tasks) {
    MilliGpu total{0};
    for (const model::TaskPlacement& task : tasks) {
        total += task.share * std::popcount(task.gpu_mask);
    }
    return total;
}

std::int64_t own_cost(const Piece& piece) {
    return piece.cost.unsaved_gpu_ms + piece.cost.restart_gpu_ms;
}

}  // namespace

model::PauseCost pause_cost(const cluster::Job& job, MilliGpu gpus, TimePoint now) {
    const auto unsaved = std::max(now - job.last_saved, model::Duration{0});
    return {gpus.value * unsaved.count() / 1000, gpus.value * job.restart_cost.count() / 1000};
}

// Unless it binds everybody, the minimum run binds a project that wants more than its quota, never
// an owner who wants back what is his; inside a project it binds batch work, never interactive.
Terms terms_of(const PoolView& view, const Beneficiary& beneficiary) {
    const cluster::Job& job = beneficiary.job;
    const bool binds_all = view.policy.min_run_binds_all;
    if (beneficiary.rule == model::Rule::Preempt) {
        return {true, job.project, job.priority, binds_all || job.preemptible};
    }
    const bool is_owner = is_within_quota(view, job.project, beneficiary.amount);
    return {false, job.project, 0, binds_all || !is_owner};
}

PieceTable::PieceTable(const PoolView& view)
    : view_(view),
      asks_who_(has_minimum_runs(view.cluster)),
      cuts_(view.cluster.projects().size()),
      heads_(view.cluster.nodes().size(), kNoLink) {}

std::span<PieceTable::Class> PieceTable::classes(const Terms& terms, ProjectId project) {
    std::vector<Class>& classes = cut(project).classes;
    if (!terms.from_own) return classes;
    const auto end = std::ranges::lower_bound(classes, terms.priority, {}, &Class::priority);
    return {classes.begin(), end};
}

std::vector<std::size_t> PieceTable::allowed(const Terms& terms,
                                             std::span<const ProjectId> projects) {
    std::vector<std::size_t> found;
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
    if (is_gone_[position] || is_protected(terms, piece)) return false;
    return !terms.from_own || (piece.project == terms.project && piece.priority < terms.priority);
}

std::int64_t PieceTable::cost(const Terms& terms, std::size_t position) {
    const Piece& piece = pieces_[position];
    if (piece.is_fresh) return 0;
    std::optional<std::int64_t> below;
    for (Class& alike : cuts_[piece.project.index()].classes) {
        if (alike.priority >= piece.priority) break;
        const auto cheapest = cheapest_in(alike, terms);
        if (cheapest) below = std::min(below.value_or(*cheapest), *cheapest);
    }
    return own_cost(piece) + below.value_or(0);
}

TimePoint PieceTable::protected_until(const Terms& terms, const Piece& piece) const {
    const auto rule = terms.from_own ? model::Rule::Preempt : model::Rule::Reclaim;
    return scheduling::protected_until(view_, view_.cluster.job(piece.job), rule, terms.project);
}

bool PieceTable::is_protected(const Terms& terms, const Piece& piece) const {
    if (!terms.minimum_run) return false;
    if (!asks_who_) return piece.is_protected;
    return piece.takes_core && !piece.is_fresh && protected_until(terms, piece) > view_.now;
}

std::optional<TimePoint> PieceTable::protected_until(const Terms& terms, const Class& alike) const {
    if (!asks_who_) return alike.protected_until;
    std::optional<TimePoint> first;
    for (const std::size_t piece : alike.order) {
        if (!is_protected(terms, pieces_[piece])) continue;
        const TimePoint until = protected_until(terms, pieces_[piece]);
        first = std::min(first.value_or(until), until);
    }
    return first;
}

std::optional<std::int64_t> PieceTable::cheapest_in(Class& from, const Terms& terms) {
    if (from.by_cost.empty()) {
        for (const std::size_t piece : from.order) {
            if (!pieces_[piece].is_fresh) from.by_cost.push_back(piece);
        }
        std::ranges::stable_sort(from.by_cost, {},
                                 [&](std::size_t piece) { return own_cost(pieces_[piece]); });
    }
    // Where who asks matters, what one may not take another may: nothing is passed for good.
    std::size_t here = 0;
    std::size_t& at = asks_who_ ? here : from.cheapest[terms.minimum_run ? 1 : 0];
    while (at < from.by_cost.size()) {
        const std::size_t piece = from.by_cost[at];
        if (!is_gone_[piece] && !is_protected(terms, pieces_[piece])) {
            return own_cost(pieces_[piece]);
        }
        ++at;
    }
    return {};
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
    return *std::ranges::lower_bound(classes, piece.priority, {}, &Class::priority);
}

bool PieceTable::strike_out(std::size_t position) {
    const Piece& piece = pieces_[position];
    Class& alike = class_of(piece);
    is_gone_[position] = true;
    const std::size_t next = position + 1;
    const bool is_surplus_gone = is_of_same_job(position, next) && pieces_[next].takes_whole_job;
    if (is_surplus_gone) lower_stage(alike, next);
    while (alike.next < alike.order.size() && is_gone_[alike.order[alike.next]]) ++alike.next;
    for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
        if (which == 1 && piece.is_protected) break;
        --alike.count[which];
        alike.gpus[which] -= piece.gpus;
    }
    const bool has_higher = &alike != &cuts_[piece.project.index()].classes.back();
    return has_higher && (alike.count[0] == 0 || alike.count[1] == 0);
}

// A job that lost its surplus stands among those at their minimum from now on.
void PieceTable::lower_stage(Class& alike, std::size_t core) {
    pieces_[core].stage = 1;
    const auto key = [&](std::size_t piece) {
        const Piece& of = pieces_[piece];
        return cluster::VictimKey{of.priority, of.stage, of.created, of.job};
    };
    auto from = std::ranges::find(alike.order, core);
    auto to = from + 1;
    while (to != alike.order.end() && (is_gone_[*to] || key(*to) < key(core))) ++to;
    std::rotate(from, from + 1, to);
}

PieceTable::Cut& PieceTable::cut(ProjectId project) {
    Cut& cut = cuts_[project.index()];
    if (cut.is_done) return cut;
    cut.is_done = true;
    const std::size_t first = pieces_.size();
    for (const cluster::VictimKey& key : view_.claim(project).victims) {
        if (cut.classes.empty() || cut.classes.back().priority != key.priority) {
            cut.classes.push_back({});
            cut.classes.back().priority = key.priority;
        }
        this->cut(cut, view_.cluster.job(key.job));
    }
    // Now that the lists of tasks grow no more, the pieces can point into them.
    std::size_t at = 0;
    for (std::size_t piece = first; piece < pieces_.size(); ++piece) {
        const std::size_t count = pieces_[piece].tasks.size();
        pieces_[piece].tasks = std::span(cut.tasks).subspan(at, count);
        pieces_[piece].ranks = std::span(cut.ranks).subspan(at, count);
        at += count;
    }
    is_gone_.resize(pieces_.size());
    return cut;
}

// Surplus first, one by one, then the core. A job that has to stop for it loses the work of all its
// tasks with the first piece, and nothing more with the others or when it stops anyway.
void PieceTable::cut(Cut& into, const cluster::Job& job) {
    const std::size_t first = into.tasks.size();
    for (const cluster::PlacedTask& task : job.placed) {
        if (!task.is_releasing) into.tasks.push_back(task.place);
    }
    const auto running = std::span(into.tasks).subspan(first);
    if (running.size() > 1) {
        std::ranges::sort(running, std::greater{}, &model::TaskPlacement::task);
    }
    for (const model::TaskPlacement& task : running) into.ranks.push_back(task.task);
    const std::size_t core = std::min(running.size(), static_cast<std::size_t>(job.tasks_min));
    std::size_t at = first;
    for (; at + core < into.tasks.size(); ++at) add_piece(into, job, at, 1);
    if (core > 0) add_piece(into, job, at, core);
}

void PieceTable::add_piece(Cut& into, const cluster::Job& job, std::size_t first,
                           std::size_t count) {
    const bool takes_whole_job = first + count == into.tasks.size();
    const TimePoint until =
        scheduling::protected_until(view_, job, model::Rule::Preempt, job.project);
    Piece piece;
    piece.job = job.id;
    piece.project = job.project;
    piece.priority = job.priority;
    piece.stage = job.stage();
    piece.created = job.created;
    piece.takes_whole_job = takes_whole_job;
    piece.is_fresh = view_.fresh.contains(job.id);
    // The minimum run is the core's; surplus was lent for as long as it idled, unless taking it
    // stops the core as well.
    const bool stops_all = job.elastic == model::Elastic::Restart;
    piece.takes_core = takes_whole_job || stops_all;
    piece.is_protected = piece.takes_core && until > view_.now && !piece.is_fresh;
    piece.tasks = std::span(into.tasks).subspan(first, count);
    piece.gpus = gpus_of(piece.tasks);
    for (const model::TaskPlacement& task : piece.tasks) {
        Link& head = heads_[task.node.index()];
        if (head != kNoLink && links_[head].piece == pieces_.size()) continue;
        links_.push_back({pieces_.size(), head});
        head = static_cast<Link>(links_.size() - 1);
    }
    MilliGpu stopped = piece.gpus;
    if (stops_all) {
        const bool is_first = pieces_.empty() || pieces_.back().job != job.id;
        stopped = is_first ? gpus_of(std::span(into.tasks).subspan(first)) : MilliGpu{0};
    }
    const bool stops_anyway = stops_all && (job.is_releasing() || job.fresh_tasks > 0);
    if (!piece.is_fresh && !stops_anyway) piece.cost = pause_cost(job, stopped, view_.now);

    Class& alike = into.classes.back();
    alike.largest = std::max(alike.largest, piece.gpus);
    if (piece.is_protected) {
        alike.protected_until = std::min(alike.protected_until.value_or(until), until);
    }
    for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
        if (which == 1 && piece.is_protected) break;
        ++alike.count[which];
        alike.gpus[which] += piece.gpus;
    }
    alike.order.push_back(pieces_.size());
    pieces_.push_back(piece);
}

}  // namespace berth::scheduling
