// SPDX-License-Identifier: Apache-2.0
#include "scheduling/slot_market.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "scheduling/place.h"

namespace berth::scheduling {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

// Whether the compute on the node could be enough for one task if all left that may be asked to, as
// far as sums tell.
bool could_fit(const Hunt& hunt, NodeId node) {
    const cluster::Cluster& cluster = hunt.view.cluster;
    const ShapeId shape = hunt.beneficiary.job.shape;
    const MilliGpu wanted =
        cluster.part_on(shape, node).compute * cluster.shape(shape).request.gpus;
    MilliGpu room{0};
    hunt.pieces.visit_on(node, [&](std::size_t piece) {
        if (room >= wanted || !hunt.may_take(piece, hunt.ledger)) return;
        for (const model::TaskPlacement& task : hunt.pieces[piece].tasks) {
            if (task.node == node) room += task.gpus();
        }
    });
    for (int gpu = 0; gpu < cluster.nodes()[node.index()].gpus && room < wanted; ++gpu) {
        room += cluster.compute_left(View::Coming, node, gpu);
    }
    return room >= wanted;
}

}  // namespace

bool SlotMarket::Offer::operator<(const Offer& other) const {
    return std::tie(other.cost, other.jobs, other.node) < std::tie(cost, jobs, node);
}

void SlotMarket::reopen(const Hunt& hunt, std::span<const NodeId> freed) {
    std::vector<MilliGpu> headrooms = hunt.ledger.headrooms();
    const bool is_looser = !std::ranges::includes(projects_, hunt.projects) ||
                           !std::ranges::equal(headrooms, headrooms_, std::ranges::less_equal{});
    headrooms_ = std::move(headrooms);
    projects_ = hunt.projects;
    if (!is_open_ || is_looser) {
        open(hunt);
    } else {
        for (const NodeId node : freed.subspan(freed_seen_)) offer(hunt, node);
        for (const NodeId node : to_offer_) offer(hunt, node);
    }
    freed_seen_ = freed.size();
    to_offer_.clear();
}

void SlotMarket::open(const Hunt& hunt) {
    is_open_ = true;
    versions_.assign(hunt.view.cluster.nodes().size(), 0);
    heap_.clear();
    sources_.clear();
    if (const Region& within = hunt.beneficiary.within; !within.is_whole_pool()) {
        hunt.view.cluster.visit_nodes(hunt.view.pool, within,
                                      [&](NodeId node) { offer(hunt, node); });
        return;
    }
    for (const ProjectId project : hunt.projects) {
        for (PieceTable::Class& alike : hunt.pieces.classes(hunt.terms, project)) {
            for (const PieceTable::Group& group : hunt.pieces.groups(alike)) {
                if (hunt.asks_ledger() && !hunt.ledger.may_take(project, group.gpus)) continue;
                Source source{0, &group, 0};
                if (settle(hunt, source)) sources_.push_back(source);
            }
        }
    }
    std::ranges::make_heap(sources_, std::less{});
}

bool SlotMarket::settle(const Hunt& hunt, Source& source) {
    const std::vector<std::size_t>& pieces = source.group->cheapest_first;
    while (source.next < pieces.size() && !hunt.pieces.allows(hunt.terms, pieces[source.next])) {
        ++source.next;
    }
    if (source.next == pieces.size()) return false;
    source.cost = hunt.cost(pieces[source.next]);
    return true;
}

void SlotMarket::pull(const Hunt& hunt) {
    std::ranges::pop_heap(sources_, std::less{});
    Source& source = sources_.back();
    const Piece& piece = hunt.pieces[source.group->cheapest_first[source.next]];
    for (const model::TaskPlacement& task : piece.tasks) {
        std::uint32_t& version = versions_[task.node.index()];
        if (version != 0) continue;
        version = 1;
        if (could_fit(hunt, task.node)) push({source.cost, 0, task.node, version});
    }
    ++source.next;
    if (settle(hunt, source)) {
        std::ranges::push_heap(sources_, std::less{});
    } else {
        sources_.pop_back();
    }
}

void SlotMarket::push(const Offer& offer) {
    heap_.push_back(offer);
    std::ranges::push_heap(heap_, std::less{});
}

std::optional<SlotMarket::Offer> SlotMarket::pop(const Hunt& hunt) {
    while (true) {
        while (!sources_.empty() &&
               (heap_.empty() || sources_.front().cost <= heap_.front().cost)) {
            pull(hunt);
        }
        if (heap_.empty()) return {};
        std::ranges::pop_heap(heap_, std::less{});
        const Offer top = heap_.back();
        heap_.pop_back();
        if (top.version == versions_[top.node.index()]) return top;
    }
}

void SlotMarket::offer(const Hunt& hunt, NodeId node) {
    std::int64_t least = kNone;
    hunt.pieces.visit_on(node, [&](std::size_t piece) {
        if (hunt.may_take(piece, hunt.ledger)) least = std::min(least, hunt.cost(piece));
    });
    const std::uint32_t version = ++versions_[node.index()];
    if (least != kNone) push({least, 0, node, version});
}

std::optional<Choice> SlotMarket::buy(const Hunt& hunt) {
    const PoolView& view = hunt.view;
    const cluster::Trial trial(view.cluster);
    ReclaimLedger ledger = hunt.ledger;
    int missing = hunt.beneficiary.tasks;
    for (const auto& task : place_fitting(view, hunt.beneficiary.job, missing, View::Coming,
                                          hunt.beneficiary.within)) {
        view.cluster.take(View::Coming, task);
        --missing;
    }
    while (missing > 0) {
        const std::optional<Offer> top = pop(hunt);
        if (!top) break;
        const SlotCost& now = cheapest_slot(hunt, ledger, is_chosen_, top->node, scratch_);
        if (!now.is_possible) {
            to_offer_.push_back(top->node);
        } else if (std::tie(now.cost, now.jobs) != std::tie(top->cost, top->jobs)) {
            push({now.cost, now.jobs, top->node, top->version});
        } else if (accept(hunt, ledger, top->node, now)) {
            --missing;
        }
    }
    Choice choice = std::exchange(choice_, {});
    for (const std::size_t piece : choice) is_chosen_[piece] = false;
    if (missing > 0) {
        is_open_ = false;  // what it learnt was true with the ledger it had come to
        return {};
    }
    std::ranges::sort(choice);
    return choice;
}

bool SlotMarket::accept(const Hunt& hunt, ReclaimLedger& ledger, NodeId node,
                        const SlotCost& slot) {
    cluster::Cluster& cluster = hunt.view.cluster;
    std::vector<NodeId> touched{node};
    for (const std::size_t position : slot.pieces) {
        const Piece& piece = hunt.pieces[position];
        if (position >= is_chosen_.size()) is_chosen_.resize(position + 1);
        is_chosen_[position] = true;
        choice_.push_back(position);
        if (hunt.asks_ledger()) ledger.take(piece.project, piece.gpus);
        cluster.release(piece.job, piece.ranks);
        for (const model::TaskPlacement& task : piece.tasks) touched.push_back(task.node);
    }
    const auto place = place_on(hunt.view, hunt.beneficiary.job.shape, node, View::Coming);
    if (place) cluster.take(View::Coming, *place);
    std::ranges::sort(touched);
    const auto repeated = std::ranges::unique(touched);
    touched.erase(repeated.begin(), repeated.end());
    for (const NodeId changed : touched) {
        if (!cluster.is_in(hunt.beneficiary.within, changed)) continue;
        // What was freed there may be room enough for another slot.
        push({0, 0, changed, ++versions_[changed.index()]});
        to_offer_.push_back(changed);
    }
    return place.has_value();
}

}  // namespace berth::scheduling
