// SPDX-License-Identifier: Apache-2.0
#include "scheduling/slot_market.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>

#include "scheduling/place.h"

namespace berth::scheduling {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

// Whether so much more room on the node could be enough for one task, as far as sums tell.
bool could_fit(const Hunt& hunt, NodeId node, MilliGpu more) {
    const cluster::Cluster& cluster = hunt.view.cluster;
    const ShapeId shape = hunt.beneficiary.job.shape;
    const MilliGpu wanted = cluster.share_on(shape, node) * cluster.shape(shape).request.gpus;
    for (int gpu = 0; gpu < cluster.nodes()[node.index()].gpus && more < wanted; ++gpu) {
        more += cluster.free(View::Coming, node, gpu);
    }
    return more >= wanted;
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

// Goes through the pieces, not the nodes: most hunts may take little of what runs.
void SlotMarket::open(const Hunt& hunt) {
    is_open_ = true;
    const std::size_t nodes = hunt.view.cluster.nodes().size();
    versions_.resize(nodes);
    if (const Region& within = hunt.beneficiary.within; !within.is_whole_pool()) {
        heap_ = {};
        hunt.view.cluster.visit_nodes(hunt.view.pool, within,
                                      [&](NodeId node) { offer(hunt, node); });
        return;
    }
    struct Standing {
        std::int64_t least = kNone;
        MilliGpu gpus{0};
    };
    std::vector<Standing> standing(nodes);
    std::vector<Offer> offers;
    for (const std::size_t piece : hunt.quarry()) {
        const std::int64_t cost = hunt.cost(piece);
        for (const model::TaskPlacement& task : hunt.pieces[piece].tasks) {
            Standing& here = standing[task.node.index()];
            if (here.least == kNone) offers.push_back({0, 0, task.node, 0});
            here.least = std::min(here.least, cost);
            here.gpus += task.share * std::popcount(task.gpu_mask);
        }
    }
    for (Offer& offer : offers) {
        const Standing& here = standing[offer.node.index()];
        offer.cost = here.least;
        offer.version = ++versions_[offer.node.index()];
        if (!could_fit(hunt, offer.node, here.gpus)) offer.cost = kNone;
    }
    std::erase_if(offers, [](const Offer& offer) { return offer.cost == kNone; });
    heap_ = std::priority_queue<Offer>({}, std::move(offers));
}

void SlotMarket::offer(const Hunt& hunt, NodeId node) {
    std::int64_t least = kNone;
    hunt.pieces.visit_on(node, [&](std::size_t piece) {
        if (hunt.may_take(piece, hunt.ledger)) least = std::min(least, hunt.cost(piece));
    });
    const std::uint32_t version = ++versions_[node.index()];
    if (least != kNone) heap_.push({least, 0, node, version});
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
    while (missing > 0 && !heap_.empty()) {
        const Offer top = heap_.top();
        heap_.pop();
        if (top.version != versions_[top.node.index()]) continue;
        const SlotCost& now = cheapest_slot(hunt, ledger, is_chosen_, top.node, scratch_);
        if (!now.is_possible) {
            to_offer_.push_back(top.node);
        } else if (std::tie(now.cost, now.jobs) != std::tie(top.cost, top.jobs)) {
            heap_.push({now.cost, now.jobs, top.node, top.version});
        } else if (accept(hunt, ledger, top.node, now)) {
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
        heap_.push({0, 0, changed, ++versions_[changed.index()]});
        to_offer_.push_back(changed);
    }
    return place.has_value();
}

}  // namespace berth::scheduling
