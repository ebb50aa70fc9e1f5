// SPDX-License-Identifier: Apache-2.0
//
// The legal set of units with the least lost work, then the fewest jobs that stop, then the fewest
// jobs.
//
// Few units: every subset, cheapest first, so the answer is exact. Many: the beneficiary needs
// `tasks` slots, taken one after the other where they are cheapest (cheapest_nodes.h).
#include <algorithm>

#include "scheduling/victims/cheapest_nodes.h"
#include "scheduling/victims/victim_query.h"
#include "scheduling/victims/victims.h"

namespace berth::scheduling {
namespace {

constexpr std::size_t kWidenedUnits = 256;

struct Priced {
    Cost cost;
    int units = 0;
    unsigned subset = 0;

    auto operator<=>(const Priced&) const = default;
};

bool is_in(unsigned subset, std::size_t i) { return (subset >> i & 1) != 0; }

// Every subset in which a job's later units stand on its earlier ones: no core without the
// surplus. Cheapest first.
base::SmallVector<Priced, 64> priced_subsets(const VictimQuery& query, const Choice& candidates) {
    base::SmallVector<Priced, 64> priced;
    for (unsigned subset = 1; subset < 1U << candidates.size(); ++subset) {
        Priced price{.cost = {}, .units = 0, .subset = subset};
        bool is_closed = true;
        for (std::size_t i = 0; i < candidates.size() && is_closed; ++i) {
            if (!is_in(subset, i)) continue;
            const bool continues =
                i > 0 && query.units.is_of_same_job(candidates[i - 1], candidates[i]);
            is_closed = !continues || is_in(subset, i - 1);
            price.cost.lost += query.lost(candidates[i]);
            price.cost.stopped += query.units[candidates[i]].takes_whole_job ? 1 : 0;
            price.cost.touched += continues ? 0 : 1;
            ++price.units;
        }
        if (is_closed) priced.push_back(price);
    }
    std::ranges::sort(priced);
    return priced;
}

std::optional<Chosen> choose_exactly(const VictimQuery& query, const Choice& candidates) {
    // Most searches end here: room only grows with what is taken, whatever the ledger says.
    const StartTest at_all(query, StartTest::SetAside::Ignored);
    if (!at_all.places_if_legal(candidates)) return {};
    const StartTest test(query);
    for (const Priced& price : priced_subsets(query, candidates)) {
        Choice choice;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if (is_in(price.subset, i)) choice.push_back(candidates[i]);
        }
        std::ranges::sort(choice);
        if (auto places = test.fits_without(choice)) return Chosen{choice, std::move(*places)};
    }
    return {};
}

// Cheapest first; ties in the order of projects, then in victim order.
Choice by_cost(const VictimQuery& query, Choice units) {
    base::SmallVector<std::pair<std::int64_t, std::size_t>, 16> priced;
    for (const std::size_t unit : units) priced.emplace_back(query.lost(unit), unit);
    std::ranges::sort(priced, [&](const auto& left, const auto& right) {
        if (left.first != right.first) return left.first < right.first;
        return query.units.comes_before(left.second, right.second);
    });
    std::ranges::transform(priced, units.begin(), [](const auto& entry) { return entry.second; });
    return units;
}

// Room on the nodes may not be all: a limit inside the project is met by pausing more of it, and
// slots that are cheapest may lie where no group of a gang can stand, or leave no companion room.
std::optional<Places> widen(const VictimQuery& query, Choice& choice) {
    const StartTest test(query);
    ReclaimLedger ledger = query.ledger;
    const auto charge = [&](std::size_t unit) {
        if (!query.asks_ledger()) return;
        ledger.take(query.units[unit].project, query.units[unit]);
    };
    std::ranges::for_each(choice, charge);
    for (const std::size_t unit : by_cost(query, query.candidates())) {
        for (std::size_t i = query.units.first_of_job(unit); i <= unit; ++i) {
            const auto place = std::ranges::lower_bound(choice, i);
            if (place != choice.end() && *place == i) continue;
            if (!query.may_take(i, ledger)) break;
            charge(i);
            choice.insert(place, i);
        }
        if (auto places = test.fits_without(choice)) return places;
        if (query.asks_ledger() && choice.size() > kWidenedUnits) break;
    }
    return {};
}

}  // namespace

std::optional<Chosen> choose_cheapest(const VictimQuery& query, CheapestNodes& nodes) {
    if (query.few) return choose_exactly(query, *query.few);
    const StartTest test(query);
    Chosen chosen;
    std::optional<Places> places;
    {
        const cluster::Trial trial(query.view.cluster);
        auto taken = nodes.take_cheapest(query);
        if (!taken && !query.needs_more_than_slots()) return {};
        if (taken) {
            chosen.units = std::move(*taken);
            if (test.is_legal(chosen.units)) places = test.places_now();
        }
    }
    const bool may_widen = !query.asks_ledger() || query.needs_more_than_slots();
    if (!places && may_widen) places = widen(query, chosen.units);
    if (!places) return {};
    if (chosen.units.size() <= kMinimisedUnits) {
        Choice dearest_first = by_cost(query, chosen.units);
        std::ranges::reverse(dearest_first);
        auto fewer = test.minimise(chosen.units, dearest_first, StartTest::Ledger::Asked);
        if (fewer) places = std::move(fewer);
    }
    chosen.places = std::move(*places);
    return chosen;
}

}  // namespace berth::scheduling
