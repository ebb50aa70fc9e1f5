// SPDX-License-Identifier: Apache-2.0
#include "scheduling/pieces.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "cluster/gang.h"
#include "scheduling/minimum_run.h"
#include "scheduling/reclaim.h"

namespace berth::scheduling {
namespace {

std::int64_t unsaved_gpu_ms(MilliGpu gpus, TimePoint last_saved, TimePoint now) {
    return gpus.value * std::max(now - last_saved, model::Duration{0}).count() / 1000;
}

std::int64_t restart_gpu_ms(MilliGpu gpus, model::Duration restart_cost) {
    return gpus.value * restart_cost.count() / 1000;
}

MilliGpu gpus_of(std::span<const model::TaskPlacement> tasks) {
    MilliGpu total{0};
    for (const model::TaskPlacement& task : tasks) {
        total += task.gpus();
    }
    return total;
}

std::int64_t own_cost(const Piece& piece) {
    return piece.cost.unsaved_gpu_ms + piece.cost.restart_gpu_ms;
}

}  // namespace

model::PauseCost pause_cost(const cluster::Job& job, MilliGpu gpus, TimePoint now) {
    return {unsaved_gpu_ms(gpus, job.last_saved, now), restart_gpu_ms(gpus, job.restart_cost)};
}

// Unless it binds everybody, the minimum run binds a project that wants more than its quota, never
// an owner who wants back what is his; inside a project it binds batch work, never interactive.
Terms terms_of(const PoolView& view, const Beneficiary& beneficiary) {
    const cluster::Job& job = beneficiary.job;
    const bool binds_all = view.policy.min_run_binds_all;
    if (beneficiary.rule == model::Rule::Preempt) {
        return {true, job.project, job.precedence_in_line(), binds_all || job.preemptible};
    }
    const bool is_owner = is_within_quota(view, job.project, beneficiary.amount);
    return {false, job.project, {}, binds_all || !is_owner};
}

void PieceTable::open(const PoolView& view) {
    view_ = &view;
    // The minimum run is the policy's.
    if (policy_ != view.policy) *this = PieceTable();
    view_ = &view;
    policy_ = view.policy;
    cuts_.resize(view.cluster.projects().size());
    heads_.resize(view.cluster.nodes().size(), kNoLink);
    asks_who_ = has_minimum_runs(view.cluster);
    for (Cut& cut : cuts_) cut.is_ready = false;
}

std::span<PieceTable::Class> PieceTable::classes(const Terms& terms, ProjectId project) {
    std::vector<Class>& classes = cut(project).classes;
    if (!terms.from_own) return classes;
    const auto end = std::ranges::lower_bound(classes, terms.precedence, {}, &Class::precedence);
    return {classes.begin(), end};
}

const std::vector<PieceTable::Group>& PieceTable::groups(Class& alike) const {
    if (!alike.groups.empty()) return alike.groups;
    using Key = std::tuple<bool, MilliGpu, MilliGpu, std::int64_t>;
    std::map<Key, std::size_t> known;
    for (const std::size_t position : alike.order) {
        const Piece& piece = pieces_[position];
        const Key key{piece.is_fresh, piece.gpus, piece.stopped, piece.cost.restart_gpu_ms};
        const auto [at, is_new] = known.emplace(key, alike.groups.size());
        if (is_new) alike.groups.push_back({piece.gpus, {}});
        alike.groups[at->second].cheapest_first.push_back(position);
    }
    for (Group& group : alike.groups) {
        std::ranges::sort(group.cheapest_first, std::greater{},
                          [&](std::size_t piece) { return pieces_[piece].last_saved; });
    }
    return alike.groups;
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
    // What was cut for an earlier decision only may be of jobs that have ended.
    const bool is_of_now = cuts_[piece.project.index()].is_ready;
    if (is_gone_[position] || !is_of_now || is_protected(terms, piece)) return false;
    if (view_->spared != nullptr && view_->spared->contains(piece.job)) return false;
    if (terms.from_own && terms.minimum_run && is_honoured(piece)) return false;
    return !terms.from_own ||
           (piece.project == terms.project && piece.precedence < terms.precedence);
}

// Others were paused for it, so its minimum run begins as soon as it starts.
bool PieceTable::is_honoured(const Piece& piece) const {
    if (!piece.takes_core || !view_->honoured.contains(piece.job)) return false;
    const cluster::Job& job = view_->cluster.job(piece.job);
    return scheduling::protected_until(*view_, job, model::Rule::Preempt, job.project) >
           job.last_start;
}

std::int64_t PieceTable::cost(const Terms& terms, std::size_t position) {
    const Piece& piece = pieces_[position];
    if (piece.is_fresh) return 0;
    std::vector<Class>& classes = cuts_[piece.project.index()].classes;
    const auto at = static_cast<std::size_t>(&class_of(piece) - classes.data());
    return own_cost(piece) + cheapest_below(classes, at, terms);
}

// Of the classes before this one; nothing when nothing is left there.
std::int64_t PieceTable::cheapest_below(std::span<Class> classes, std::size_t at,
                                        const Terms& terms) {
    std::optional<std::int64_t>& known = classes[at].below[terms.minimum_run ? 1 : 0];
    if (known && !asks_who_) return *known;
    std::optional<std::int64_t> least;
    for (Class& lower : classes.first(at)) {
        const auto cheapest = cheapest_in(lower, terms);
        if (cheapest) least = std::min(least.value_or(*cheapest), *cheapest);
    }
    known = least.value_or(0);
    return *known;
}

TimePoint PieceTable::protected_until(const Terms& terms, const Piece& piece) const {
    const auto rule = terms.from_own ? model::Rule::Preempt : model::Rule::Reclaim;
    return scheduling::protected_until(*view_, view_->cluster.job(piece.job), rule, terms.project);
}

bool PieceTable::is_protected(const Terms& terms, const Piece& piece) const {
    if (!terms.minimum_run) return false;
    if (!asks_who_) return piece.is_protected;
    return piece.takes_core && !piece.is_fresh && protected_until(terms, piece) > view_->now;
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
    return *std::ranges::lower_bound(classes, piece.precedence, {}, &Class::precedence);
}

bool PieceTable::strike_out(std::size_t position) {
    const Piece& piece = pieces_[position];
    Class& alike = class_of(piece);
    is_gone_[position] = true;
    cuts_[piece.project.index()].has_strikes = true;
    const std::size_t next = position + 1;
    const bool is_surplus_gone = is_of_same_job(position, next) && pieces_[next].takes_whole_job;
    if (is_surplus_gone) lower_stage(alike, next);
    while (alike.next < alike.order.size() && is_gone_[alike.order[alike.next]]) ++alike.next;
    for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
        if (which == 1 && piece.is_protected) break;
        --alike.count[which];
        alike.gpus[which] -= piece.gpus;
    }
    std::vector<Class>& classes = cuts_[piece.project.index()].classes;
    for (Class& higher : classes) higher.below = {};
    const bool has_higher = &alike != &classes.back();
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

PieceTable::Cut& PieceTable::cut(ProjectId project) {
    Cut& cut = cuts_[project.index()];
    if (cut.is_ready) return cut;
    cut.is_ready = true;
    const std::uint64_t stamp = view_->cluster.work_stamp(project);
    if (cut.stamp != stamp) {
        this->cut(cut, project);
        cut.stamp = stamp;
    } else if (cut.has_strikes) {
        restore(cut);
    } else if (cut.priced == view_->now) {
        return cut;
    }
    price(cut);
    return cut;
}

void PieceTable::cut(Cut& into, ProjectId project) {
    for (std::size_t i = 0; i < into.room; ++i) leave_nodes(into.first + i);
    into.has_strikes = false;
    into.classes.clear();
    into.tasks.clear();
    into.ranks.clear();
    fresh_cut_.clear();
    jobs_.clear();
    for (const cluster::VictimKey& key : view_->claim(project).victims) {
        jobs_.push_back(&view_->cluster.job(key.job));
        __builtin_prefetch(jobs_.back());
        __builtin_prefetch(&jobs_.back()->placed);
    }
    // Jobs lie all over the memory: each is asked for before it is needed.
    constexpr std::size_t kAhead = 8;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        if (i + kAhead < jobs_.size()) __builtin_prefetch(jobs_[i + kAhead]->placed.data());
        if (into.classes.empty() || into.classes.back().precedence != jobs_[i]->precedence()) {
            into.classes.push_back({});
            into.classes.back().precedence = jobs_[i]->precedence();
        }
        cut(into, *jobs_[i]);
    }
    settle(into);
}

// As it was cut. Pieces are cut in victim order, so that is the order of their positions.
void PieceTable::restore(Cut& cut) {
    cut.has_strikes = false;
    for (Class& alike : cut.classes) {
        std::ranges::sort(alike.order);
        for (const std::size_t piece : alike.order) {
            is_gone_[piece] = false;
            pieces_[piece].stage = pieces_[piece].stage_of_job;
        }
    }
}

// Gives the pieces just cut their positions: those of the last time, when there is room.
void PieceTable::settle(Cut& cut) {
    if (fresh_cut_.size() > cut.room) {
        cut.first = pieces_.size();
        cut.room = fresh_cut_.size() + fresh_cut_.size() / 4;
        pieces_.resize(cut.first + cut.room);
        is_gone_.resize(pieces_.size());
    }
    for (Class& alike : cut.classes) {
        for (std::size_t& piece : alike.order) piece += cut.first;
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < fresh_cut_.size(); ++i) {
        // Now that the lists of tasks grow no more, the pieces can point into them.
        Piece& piece = fresh_cut_[i];
        const std::size_t count = piece.tasks.size();
        piece.tasks = std::span(cut.tasks).subspan(at, count);
        piece.ranks = std::span(cut.ranks).subspan(at, count);
        at += count;
        pieces_[cut.first + i] = piece;
        is_gone_[cut.first + i] = false;
        stand_on_nodes(cut.first + i);
    }
}

void PieceTable::stand_on_nodes(std::size_t piece) {
    for (const model::TaskPlacement& task : pieces_[piece].tasks) {
        Link& head = heads_[task.node.index()];
        if (head != kNoLink && links_[head].piece == piece) continue;
        if (free_link_ == kNoLink) {
            free_link_ = static_cast<Link>(links_.size());
            links_.push_back({0, kNoLink});
        }
        const Link link = free_link_;
        free_link_ = links_[link].next;
        links_[link] = {piece, head};
        head = link;
    }
}

// It is nobody's piece any more.
void PieceTable::leave_nodes(std::size_t piece) {
    for (const model::TaskPlacement& task : pieces_[piece].tasks) {
        Link* at = &heads_[task.node.index()];
        while (*at != kNoLink) {
            const Link link = *at;
            if (links_[link].piece != piece) {
                at = &links_[link].next;
                continue;
            }
            *at = links_[link].next;
            links_[link].next = free_link_;
            free_link_ = link;
        }
    }
    pieces_[piece] = {};
}

// What depends on the time, nothing being taken yet.
void PieceTable::price(Cut& cut) {
    cut.priced = view_->now;
    for (Class& alike : cut.classes) {
        alike.next = 0;
        alike.count = {};
        alike.gpus = {};
        alike.protected_until.reset();
        alike.by_cost.clear();
        alike.cheapest = {};
        alike.below = {};
        for (const std::size_t piece : alike.order) price(alike, pieces_[piece]);
    }
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
    const cluster::Shape& shape = view_->cluster.shape(job.shape);
    const std::size_t spare = cluster::spare_first(shape, job.tasks_min, running);
    for (const model::TaskPlacement& task : running) into.ranks.push_back(task.task);
    std::size_t at = first;
    for (; at < first + spare; ++at) add_piece(into, job, at, 1);
    if (at < into.tasks.size()) add_piece(into, job, at, into.tasks.size() - at);
}

void PieceTable::add_piece(Cut& into, const cluster::Job& job, std::size_t first,
                           std::size_t count) {
    Piece piece;
    piece.job = job.id;
    piece.project = job.project;
    piece.precedence = job.precedence();
    piece.stage = piece.stage_of_job = job.stage();
    piece.created = job.created;
    piece.takes_whole_job = first + count == into.tasks.size();
    piece.is_fresh = view_->fresh.contains(job.id);
    piece.protected_until =
        scheduling::protected_until(*view_, job, model::Rule::Preempt, job.project);
    piece.tasks = std::span(into.tasks).subspan(first, count);
    piece.stopped = gpus_of(piece.tasks);
    for (const model::TaskPlacement& task : piece.tasks) piece.gpus += view_->cluster.counted(task);
    const bool stops_all = job.elastic == model::Elastic::Restart;
    piece.takes_core = piece.takes_whole_job || stops_all;
    if (stops_all) {
        const bool is_first = fresh_cut_.empty() || fresh_cut_.back().job != job.id;
        const bool stops_anyway = job.is_releasing() || job.fresh_tasks > 0;
        piece.stopped =
            is_first && !stops_anyway ? gpus_of(std::span(into.tasks).subspan(first)) : MilliGpu{0};
    }
    piece.last_saved = job.last_saved;
    if (!piece.is_fresh) {
        piece.cost.restart_gpu_ms = restart_gpu_ms(piece.stopped, job.restart_cost);
    }
    Class& alike = into.classes.back();
    alike.largest = std::max(alike.largest, piece.gpus);
    alike.order.push_back(fresh_cut_.size());
    fresh_cut_.push_back(piece);
}

void PieceTable::price(Class& alike, Piece& piece) const {
    if (!piece.is_fresh) {
        piece.cost.unsaved_gpu_ms = unsaved_gpu_ms(piece.stopped, piece.last_saved, view_->now);
    }
    // The minimum run is the core's; surplus was lent for as long as it idled, unless taking it
    // stops the core as well.
    piece.is_protected = piece.takes_core && piece.protected_until > view_->now && !piece.is_fresh;
    if (piece.is_protected) {
        alike.protected_until =
            std::min(alike.protected_until.value_or(piece.protected_until), piece.protected_until);
    }
    for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
        if (which == 1 && piece.is_protected) break;
        ++alike.count[which];
        alike.gpus[which] += piece.gpus;
    }
}

}  // namespace berth::scheduling
