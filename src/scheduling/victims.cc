// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims.h"

#include <algorithm>
#include <map>

#include "base/check.h"
#include "scheduling/eviction.h"
#include "scheduling/pieces.h"
#include "scheduling/place.h"
#include "scheduling/quota_gate.h"

namespace berth::scheduling {

std::vector<int> Piece::ranks() const {
    std::vector<int> ranks;
    for (const model::TaskPlacement& task : tasks) ranks.push_back(task.task);
    return ranks;
}

std::size_t first_of_job(const std::vector<Piece>& pieces, std::size_t position) {
    while (position > 0 && pieces[position - 1].job == pieces[position].job) --position;
    return position;
}

EvictionTest::EvictionTest(const PoolView& view, const Beneficiary& beneficiary,
                           const ReclaimLedger& ledger, const std::vector<Piece>& pieces)
    : view_(view), beneficiary_(beneficiary), ledger_(ledger), pieces_(pieces) {}

bool EvictionTest::is_legal(const Choice& choice) const {
    if (beneficiary_.rule == model::Rule::Preempt) return true;
    ReclaimLedger ledger = ledger_;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
        if (!choice[i]) continue;
        if (!ledger.may_take(pieces_[i].project, pieces_[i].gpus)) return false;
        ledger.take(pieces_[i].project, pieces_[i].gpus);
    }
    return ledger.leaves_balance();
}

std::optional<std::vector<model::TaskPlacement>> EvictionTest::places_if_legal(
    const Choice& choice) const {
    const cluster::Trial trial(view_.cluster);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
        if (choice[i]) view_.cluster.release(pieces_[i].job, pieces_[i].ranks());
    }
    if (quota_gate(view_, beneficiary_.job, beneficiary_.amount)) return {};
    return place(view_, beneficiary_.job, beneficiary_.tasks, View::Coming);
}

std::optional<std::vector<model::TaskPlacement>> EvictionTest::places_after(
    const Choice& choice) const {
    if (!is_legal(choice)) return {};
    return places_if_legal(choice);
}

void EvictionTest::prune(Choice& choice, std::span<const std::size_t> give_back_order) const {
    if (std::ranges::count(choice, true) > kPrunedPieces) return;
    for (const std::size_t piece : give_back_order) {
        if (!choice[piece]) continue;
        // A job's core cannot stay away when its surplus is back, so they return from the core.
        const bool core_is_taken = piece + 1 < pieces_.size() && choice[piece + 1] &&
                                   pieces_[piece + 1].job == pieces_[piece].job;
        if (core_is_taken) continue;
        choice[piece] = false;
        if (!places_after(choice)) choice[piece] = true;
    }
}

namespace {

// Whether even the most that may be taken from every side is too little: decides most refusals
// without looking at a single node.
bool is_hopeless(const PoolView& view, const Beneficiary& beneficiary, const ReclaimLedger& ledger,
                 const std::vector<Piece>& pieces) {
    // A request by memory may take less of a large GPU than the amount it counts as.
    const model::TaskRequest& request = view.cluster.shape(beneficiary.job.shape).request;
    if (request.gpu_memory > model::Bytes{0}) return false;
    std::map<std::optional<std::size_t>, std::pair<MilliGpu, MilliGpu>> sides;  // sum, largest
    std::map<std::optional<std::size_t>, ProjectId> member;
    for (const Piece& piece : pieces) {
        const auto side = ledger.side_of(piece.project);
        auto& [sum, largest] = sides[side];
        sum += piece.gpus;
        largest = std::max(largest, piece.gpus);
        member[side] = piece.project;
    }
    MilliGpu reachable =
        view.cluster.pool(view.pool).free_total[static_cast<std::size_t>(View::Coming)];
    for (const auto& [side, amounts] : sides) {
        const auto [sum, largest] = amounts;
        const bool bounded = beneficiary.rule == model::Rule::Reclaim;
        reachable += bounded ? std::min(sum, ledger.most_from(member[side], largest)) : sum;
    }
    return reachable < beneficiary.amount;
}

}  // namespace

Eviction find_victims(const PoolView& view, const Beneficiary& beneficiary) {
    const ReclaimLedger ledger(view, beneficiary.job.project, beneficiary.amount);
    const Pieces pieces = legal_pieces(view, beneficiary, ledger);
    Eviction eviction;
    eviction.protected_until = pieces.protected_until;
    if (pieces.list.empty() || is_hopeless(view, beneficiary, ledger, pieces.list)) {
        return eviction;
    }
    const EvictionTest test(view, beneficiary, ledger, pieces.list);
    Choice choice;
    if (!view.policy.cheapest_victims) {
        choice = choose_in_order(view, beneficiary, pieces.list, test);
    }
    if (choice.empty()) choice = choose_cheapest(view, beneficiary, ledger, pieces.list, test);
    if (choice.empty()) return eviction;
    const auto places = test.places_after(choice);
    BERTH_CHECK(places.has_value(), "chosen victims make room for their beneficiary");
    eviction.places = *places;
    for (std::size_t i = 0; i < pieces.list.size(); ++i) {
        if (choice[i]) eviction.pieces.push_back(pieces.list[i]);
    }
    return eviction;
}

}  // namespace berth::scheduling
