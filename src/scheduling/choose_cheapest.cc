// SPDX-License-Identifier: Apache-2.0
//
// The legal set of pieces with the least lost work, then the fewest jobs.
//
// Few pieces: every subset, cheapest first, so the answer is exact. Many: the beneficiary needs
// `tasks` slots; the cheapest way to make one slot on each node is kept in a heap, and slots are
// bought one after the other. A bought slot changes only the nodes its pieces stood on, and makes
// every other slot dearer or leaves it alone (the ledger only tightens), so an entry is looked at
// again when it comes to the top and the whole costs O(pieces + nodes log nodes).
#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "scheduling/eviction.h"
#include "scheduling/place.h"
#include "scheduling/slot_cost.h"

namespace berth::scheduling {
namespace {

struct Priced {
    std::int64_t cost = 0;
    int jobs = 0;
    int pieces = 0;
    unsigned subset = 0;

    auto operator<=>(const Priced&) const = default;
};

// A job's later pieces stand on its earlier ones: no core without the surplus.
bool is_closed(const std::vector<Piece>& pieces, unsigned subset) {
    for (std::size_t i = 1; i < pieces.size(); ++i) {
        const bool has = (subset >> i & 1) != 0;
        const bool has_previous = (subset >> (i - 1) & 1) != 0;
        if (has && !has_previous && pieces[i].job == pieces[i - 1].job) return false;
    }
    return true;
}

Choice choose_exactly(const std::vector<Piece>& pieces, const EvictionTest& test) {
    std::vector<Priced> priced;
    for (unsigned subset = 1; subset < 1U << pieces.size(); ++subset) {
        if (!is_closed(pieces, subset)) continue;
        Priced price{.cost = 0, .jobs = 0, .pieces = 0, .subset = subset};
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            if ((subset >> i & 1) == 0) continue;
            price.cost += pieces[i].cost_gpu_ms();
            price.jobs +=
                i == 0 || pieces[i - 1].job != pieces[i].job || (subset >> (i - 1) & 1) == 0;
            ++price.pieces;
        }
        priced.push_back(price);
    }
    std::ranges::sort(priced);
    Choice choice(pieces.size());
    for (const Priced& price : priced) {
        for (std::size_t i = 0; i < pieces.size(); ++i) choice[i] = (price.subset >> i & 1) != 0;
        if (test.places_after(choice)) return choice;
    }
    return {};
}

class SlotMarket {
  public:
    SlotMarket(const PoolView& view, const Beneficiary& beneficiary, const ReclaimLedger& ledger,
               const std::vector<Piece>& pieces)
        : view_(view),
          beneficiary_(beneficiary),
          ledger_(ledger),
          pieces_(pieces),
          choice_(pieces.size()),
          on_node_(view.cluster.nodes().size()) {
        std::vector<std::size_t> by_cost(pieces.size());
        std::iota(by_cost.begin(), by_cost.end(), std::size_t{0});
        std::ranges::stable_sort(by_cost, {},
                                 [&](std::size_t i) { return pieces[i].cost_gpu_ms(); });
        for (const std::size_t piece : by_cost) {
            for (const auto& task : pieces[piece].tasks) {
                auto& here = on_node_[task.node.index()];
                if (here.empty() || here.back() != piece) here.push_back(piece);
            }
        }
    }

    // Buys all slots, or returns an empty choice.
    Choice buy() {
        const cluster::Trial trial(view_.cluster);
        int missing = beneficiary_.tasks;
        for (const auto& task : free_slots()) {
            view_.cluster.take(View::Coming, task);
            --missing;
        }
        for (std::size_t node = 0; node < on_node_.size() && missing > 0; ++node) offer(node);
        while (missing > 0 && !heap_.empty()) {
            const Offer top = heap_.top();
            heap_.pop();
            const SlotCost now = price(top.node);
            if (!now.is_possible) continue;
            if (std::tie(now.cost, now.jobs) != std::tie(top.cost, top.jobs)) {
                heap_.push({now.cost, now.jobs, top.node});
                continue;
            }
            if (accept(top.node, now)) --missing;
        }
        return missing == 0 ? choice_ : Choice{};
    }

  private:
    struct Offer {
        std::int64_t cost;
        int jobs;
        std::size_t node;

        bool operator<(const Offer& other) const {  // the cheapest is the heap's top
            return std::tie(other.cost, other.jobs, other.node) < std::tie(cost, jobs, node);
        }
    };

    std::vector<model::TaskPlacement> free_slots() const {
        return place_fitting(view_, beneficiary_.job, beneficiary_.tasks, View::Coming);
    }

    SlotCost price(std::size_t node) {
        return cheapest_slot(view_, beneficiary_, ledger_, pieces_, choice_, on_node_[node],
                             {static_cast<NodeId::Rep>(node)});
    }

    void offer(std::size_t node) {
        if (on_node_[node].empty()) return;
        const SlotCost slot = price(node);
        if (slot.is_possible) heap_.push({slot.cost, slot.jobs, node});
    }

    bool accept(std::size_t node, const SlotCost& slot) {
        std::vector<std::size_t> touched{node};
        for (const std::size_t piece : slot.pieces) {
            choice_[piece] = true;
            if (beneficiary_.rule == model::Rule::Reclaim) {
                ledger_.take(pieces_[piece].project, pieces_[piece].gpus);
            }
            view_.cluster.release(pieces_[piece].job, pieces_[piece].ranks());
            for (const auto& task : pieces_[piece].tasks) touched.push_back(task.node.index());
        }
        const auto place =
            place_on(view_, beneficiary_.job.shape, {static_cast<NodeId::Rep>(node)}, View::Coming);
        if (place) view_.cluster.take(View::Coming, *place);
        std::ranges::sort(touched);
        const auto repeated = std::ranges::unique(touched);
        touched.erase(repeated.begin(), repeated.end());
        for (const std::size_t changed : touched) offer(changed);
        return place.has_value();
    }

    const PoolView& view_;
    const Beneficiary& beneficiary_;
    ReclaimLedger ledger_;
    const std::vector<Piece>& pieces_;
    Choice choice_;
    std::vector<std::vector<std::size_t>> on_node_;  // pieces by node, cheapest first
    std::priority_queue<Offer> heap_;
};

}  // namespace

Choice choose_cheapest(const PoolView& view, const Beneficiary& beneficiary,
                       const ReclaimLedger& ledger, const std::vector<Piece>& pieces,
                       const EvictionTest& test) {
    if (std::ssize(pieces) <= kExactPieces) return choose_exactly(pieces, test);
    Choice choice = SlotMarket(view, beneficiary, ledger, pieces).buy();
    std::vector<std::size_t> by_cost(pieces.size());
    std::iota(by_cost.begin(), by_cost.end(), std::size_t{0});
    std::ranges::stable_sort(by_cost, {}, [&](std::size_t i) { return pieces[i].cost_gpu_ms(); });
    if (choice.empty()) choice.resize(pieces.size());
    // Room on the nodes may not be all: a limit inside the project is met by pausing more of it.
    for (const std::size_t piece : by_cost) {
        if (test.places_after(choice)) break;
        if (beneficiary.rule == model::Rule::Reclaim) return {};
        for (std::size_t i = first_of_job(pieces, piece); i <= piece; ++i) choice[i] = true;
    }
    if (!test.places_after(choice)) return {};
    std::ranges::reverse(by_cost);
    test.prune(choice, by_cost);
    return choice;
}

}  // namespace berth::scheduling
