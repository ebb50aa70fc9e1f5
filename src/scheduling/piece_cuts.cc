// SPDX-License-Identifier: Apache-2.0
//
// How a project's running work is cut into pieces, and kept so while jobs come, go and change.
#include <algorithm>
#include <utility>

#include "base/gpu_time.h"
#include "cluster/gang.h"
#include "scheduling/pieces.h"

namespace berth::scheduling {
namespace {

MilliGpu gpus_of(std::span<const model::TaskPlacement> tasks) {
    MilliGpu total{0};
    for (const model::TaskPlacement& task : tasks) {
        total += task.gpus();
    }
    return total;
}

// Empty ones among them: their memory is used again.
constexpr std::size_t kGroupsKept = 16;

template <typename Order>
void put_in(FewPieces& sorted, std::size_t position, Order order) {
    sorted.insert(std::ranges::upper_bound(sorted, position, order), position);
}

template <typename Order>
void take_out(FewPieces& sorted, std::size_t position, Order order) {
    sorted.erase(std::ranges::lower_bound(sorted, position, order));
}

}  // namespace

void PieceClass::empty() {
    order.clear();
    shielded.clear();
    count = {};
    gpus = {};
    for (PieceGroup& group : groups) {
        for (FewPieces& pieces : group.cheapest_first) pieces.clear();
    }
}

PieceTable::Cut& PieceTable::cut(ProjectId project) {
    Cut& cut = cuts_[project.index()];
    if (cut.is_ready) return cut;
    cut.is_ready = true;
    restore(cut);
    const cluster::WorkLog& log = view_->cluster.work_log(project);
    if (!cut.stamp || cut.now > view_->now || !log.reaches_back_to(cut.mark)) {
        cut_whole(cut, project);
    } else if (cut.stamp != log.stamp()) {
        cut_again(cut, project);
    }
    cut.stamp = log.stamp();
    cut.mark = log.read();
    begin(cut);
    return cut;
}

void PieceTable::cut_whole(Cut& cut, ProjectId project) {
    for (Class& alike : cut.classes) {
        for (std::size_t i = 0; i < alike.order.size();) {
            const std::size_t first = alike.order[i];
            i += tasks_[first].pieces;
            clear(first);
        }
        alike.empty();
        spare_.push_back(std::move(alike));
    }
    cut.classes.clear();
    cut.now = view_->now;
    // Jobs lie all over the memory: each is asked for before it is needed.
    jobs_.clear();
    for (const cluster::VictimKey& key : view_->claim(project).victims) {
        jobs_.push_back(&view_->cluster.job(key.job));
        __builtin_prefetch(jobs_.back());
        __builtin_prefetch(&jobs_.back()->placed);
    }
    constexpr std::size_t kAhead = 8;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        if (i + kAhead < jobs_.size()) __builtin_prefetch(jobs_[i + kAhead]->placed.data());
        add(cut, *jobs_[i]);
    }
}

void PieceTable::cut_again(Cut& cut, ProjectId project) {
    changed_.clear();
    view_->cluster.work_log(project).visit_since(
        cut.mark, [&](const cluster::VictimKey& key) { changed_.push_back(key); });
    for (const cluster::VictimKey& key : changed_) drop(cut, key);
    std::ranges::sort(changed_, {}, &cluster::VictimKey::job);
    const auto repeated = std::ranges::unique(changed_, {}, &cluster::VictimKey::job);
    changed_.erase(repeated.begin(), repeated.end());
    for (const cluster::VictimKey& key : changed_) {
        const cluster::Job* job = view_->cluster.find_job(key.job);
        if (job != nullptr && job->is_victim() && job->pool == view_->pool) add(cut, *job);
    }
}

// What the last decision has left behind, and what time has changed.
void PieceTable::begin(Cut& cut) {
    cut.totals.reset();
    cut.least_lost.reset();
    for (Class& alike : cut.classes) {
        alike.next = 0;
        alike.below = {};
        for (Group& group : alike.groups) group.left = {};
        while (!alike.shielded.empty() &&
               !is_shielded(pieces_[alike.shielded.back()], view_->now)) {
            const std::size_t piece = alike.shielded.back();
            alike.shielded.pop_back();
            ++alike.count[1];
            alike.gpus[1] += pieces_[piece].gpus;
            if (alike.has_groups) {
                put_in(group_of(alike, pieces_[piece]).cheapest_first[1], piece, Cheaper{*this});
            }
        }
    }
    cut.now = view_->now;
}

void PieceTable::restore(Cut& cut) {
    for (const std::size_t position : cut.strikes) {
        Piece& piece = pieces_[position];
        is_gone_[position] = false;
        note_nodes(piece);
        count(class_of(piece), piece, +1, cut.now);
    }
    for (const std::size_t position : cut.strikes) {
        const std::size_t core = position + 1;
        if (!is_of_same_job(position, core)) continue;
        if (pieces_[core].stage == pieces_[core].stage_of_job) continue;
        pieces_[core].stage = pieces_[core].stage_of_job;
        std::ranges::sort(class_of(pieces_[core]).order, [&](std::size_t left, std::size_t right) {
            return comes_before(left, right);
        });
    }
    cut.strikes.clear();
}

PieceTable::Group& PieceTable::group_of(Class& alike, const Piece& piece) const {
    for (Group& group : alike.groups) {
        if (group.is_fresh == piece.is_fresh && group.gpus == piece.gpus &&
            group.stopped == piece.stopped && group.restart_gpu_ms == piece.restart_gpu_ms) {
            return group;
        }
    }
    alike.groups.push_back(
        {piece.is_fresh, piece.gpus, piece.stopped, piece.restart_gpu_ms, {}, {}});
    return alike.groups.back();
}

bool PieceTable::Cheaper::operator()(std::size_t left, std::size_t right) const {
    const TimePoint saved = table.pieces_[left].last_saved;
    const TimePoint other = table.pieces_[right].last_saved;
    return saved == other ? table.comes_before(left, right) : saved > other;
}

bool PieceTable::ShieldedLonger::operator()(std::size_t left, std::size_t right) const {
    return std::pair(table.pieces_[right].protected_until, left) <
           std::pair(table.pieces_[left].protected_until, right);
}

// The minimum run is the core's; surplus was lent for as long as it idled, unless taking it stops
// the core as well.
bool PieceTable::is_shielded(const Piece& piece, TimePoint now) {
    return piece.takes_core && !piece.is_fresh && piece.protected_until > now;
}

void PieceTable::count(Class& alike, const Piece& piece, std::int64_t sign, TimePoint now) {
    for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
        if (which == 1 && is_shielded(piece, now)) break;
        alike.count[which] += sign;
        alike.gpus[which] += piece.gpus * sign;
    }
}

void PieceTable::add(Cut& cut, const cluster::Job& job) {
    const cluster::VictimKey key = cluster::victim_key(job);
    auto alike = std::ranges::lower_bound(cut.classes, key.precedence, {}, &Class::precedence);
    if (alike == cut.classes.end() || alike->precedence != key.precedence) {
        if (spare_.empty()) spare_.emplace_back();
        alike = cut.classes.insert(alike, std::move(spare_.back()));
        spare_.pop_back();
        alike->precedence = key.precedence;
        alike->next = 0;
        alike->largest = {};
        alike->below = {};
    }
    std::vector<std::size_t>& order = alike->order;
    auto at = order.end();
    if (!order.empty() && key < pieces_[order.back()].key()) {
        at = place_in(order, key);
    }
    const std::size_t first = cut_into_pieces(job);
    const std::size_t count = tasks_[first].pieces;
    at = order.insert(at, count, first);
    for (std::size_t i = 0; i < count; ++i) {
        *at++ = first + i;
        add(*alike, first + i, cut.now);
    }
}

void PieceTable::add(Class& alike, std::size_t position, TimePoint now) {
    const Piece& piece = pieces_[position];
    const bool is_left_alone = is_shielded(piece, now);
    alike.largest = std::max(alike.largest, piece.gpus);
    count(alike, piece, +1, now);
    if (is_left_alone) put_in(alike.shielded, position, ShieldedLonger{*this});
    if (alike.has_groups) {
        Group& group = group_of(alike, piece);
        put_in(group.cheapest_first[0], position, Cheaper{*this});
        if (!is_left_alone) put_in(group.cheapest_first[1], position, Cheaper{*this});
    }
    stand_on_nodes(position);
}

std::vector<std::size_t>::iterator PieceTable::place_in(std::vector<std::size_t>& order,
                                                        const cluster::VictimKey& key) const {
    return std::lower_bound(order.begin(), order.end(), key,
                            [&](std::size_t piece, const cluster::VictimKey& before) {
                                return pieces_[piece].key() < before;
                            });
}

// The surplus tasks of an elastic job, then its core; where its first piece is.
std::size_t PieceTable::cut_into_pieces(const cluster::Job& job) {
    running_.clear();
    for (const cluster::PlacedTask& task : job.placed) {
        if (!task.is_releasing) running_.push_back(task.place);
    }
    if (running_.size() > 1) {
        std::ranges::sort(running_, std::greater{}, &model::TaskPlacement::task);
    }
    const cluster::Shape& shape = view_->cluster.shape(job.shape);
    const std::size_t spare = cluster::spare_first(shape, job.core(), running_);
    const std::size_t count = spare + (spare < running_.size() ? 1 : 0);
    const std::size_t first = positions_for(count, running_.size());
    Tasks& tasks = tasks_[first];
    tasks.pieces = count;
    tasks.tasks.assign(running_.begin(), running_.end());
    tasks.ranks.clear();
    for (const model::TaskPlacement& task : running_) tasks.ranks.push_back(task.task);
    for (std::size_t i = 0; i < count; ++i) {
        pieces_[first + i] = piece_of(job, tasks, i, i < spare ? 1 : running_.size() - spare);
        is_gone_[first + i] = false;
    }
    return first;
}

Piece PieceTable::piece_of(const cluster::Job& job, const Tasks& of, std::size_t first,
                           std::size_t count) const {
    Piece piece;
    piece.job = job.id;
    piece.project = job.project;
    piece.precedence = job.precedence();
    piece.stage = piece.stage_of_job = job.stage();
    piece.created = job.created;
    piece.takes_whole_job = first + count == of.tasks.size();
    piece.is_fresh = has(view_->fresh, job.id);
    piece.protected_until =
        scheduling::protected_until(*view_, job, model::Rule::Preempt, job.project);
    piece.tasks = std::span(of.tasks).subspan(first, count);
    piece.ranks = std::span(of.ranks).subspan(first, count);
    piece.stopped = gpus_of(piece.tasks);
    for (const model::TaskPlacement& task : piece.tasks) piece.gpus += view_->cluster.counted(task);
    const bool stops_all = job.elastic == model::Elastic::Restart;
    piece.takes_core = piece.takes_whole_job || stops_all;
    if (stops_all) {
        const bool stops_anyway = job.is_releasing() || job.fresh_tasks > 0;
        piece.stopped = first == 0 && !stops_anyway ? gpus_of(of.tasks) : MilliGpu{0};
    }
    piece.last_saved = job.last_saved;
    piece.restart_gpu_ms = base::gpu_ms(piece.stopped, job.restart_cost);
    return piece;
}

std::size_t PieceTable::positions_for(std::size_t pieces, std::size_t tasks) {
    std::vector<std::size_t>& free = free_[{pieces, tasks}];
    if (!free.empty()) {
        const std::size_t first = free.back();
        free.pop_back();
        return first;
    }
    const std::size_t first = pieces_.size();
    pieces_.resize(first + pieces);
    is_gone_.resize(first + pieces);
    tasks_.resize(first + pieces);
    return first;
}

// Takes out the job that stood there as this, if it did.
void PieceTable::drop(Cut& cut, const cluster::VictimKey& key) {
    const auto alike =
        std::ranges::lower_bound(cut.classes, key.precedence, {}, &Class::precedence);
    if (alike == cut.classes.end() || alike->precedence != key.precedence) return;
    std::vector<std::size_t>& order = alike->order;
    const auto at = place_in(order, key);
    if (at == order.end() || key < pieces_[*at].key()) return;
    const std::size_t first = *at;
    const std::size_t count = tasks_[first].pieces;
    for (std::size_t i = 0; i < count; ++i) drop(*alike, first + i, cut.now);
    order.erase(at, at + static_cast<std::ptrdiff_t>(count));
    if (order.empty()) {
        spare_.push_back(std::move(*alike));
        cut.classes.erase(alike);
    }
    clear(first);
}

void PieceTable::drop(Class& alike, std::size_t position, TimePoint now) {
    const Piece& piece = pieces_[position];
    const bool is_left_alone = is_shielded(piece, now);
    count(alike, piece, -1, now);
    if (is_left_alone) take_out(alike.shielded, position, ShieldedLonger{*this});
    if (!alike.has_groups) return;
    Group& group = group_of(alike, piece);
    take_out(group.cheapest_first[0], position, Cheaper{*this});
    if (!is_left_alone) take_out(group.cheapest_first[1], position, Cheaper{*this});
    if (group.cheapest_first[0].empty() && alike.groups.size() > kGroupsKept) {
        std::erase_if(alike.groups, [](const Group& one) { return one.cheapest_first[0].empty(); });
    }
}

// Nobody's pieces any more: those of the job whose first one stands there.
void PieceTable::clear(std::size_t first) {
    const std::size_t count = tasks_[first].pieces;
    for (std::size_t i = 0; i < count; ++i) {
        leave_nodes(first + i);
        pieces_[first + i] = {};
    }
    free_[{count, tasks_[first].tasks.size()}].push_back(first);
}

void PieceTable::note_nodes(const Piece& piece) {
    for (const model::TaskPlacement& task : piece.tasks) {
        changed_nodes_.add(task.node, 2 * heads_.size());
    }
}

void PieceTable::stand_on_nodes(std::size_t piece) {
    note_nodes(pieces_[piece]);
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

void PieceTable::leave_nodes(std::size_t piece) {
    note_nodes(pieces_[piece]);
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
}

}  // namespace berth::scheduling
