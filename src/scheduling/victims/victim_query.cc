// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims/victim_query.h"

#include <algorithm>

#include "scheduling/place/place.h"
#include "scheduling/rights/quota_gate.h"

namespace berth::scheduling {

bool StartTest::is_legal(const Choice& choice) const {
    if (!query_.asks_ledger()) return true;
    ReclaimLedger ledger = query_.ledger;
    for (const std::size_t position : choice) {
        const VictimUnit& unit = query_.units[position];
        if (!ledger.may_take(unit.project, unit)) return false;
        ledger.take(unit.project, unit);
    }
    return true;
}

std::optional<Places> StartTest::places_if_legal(const Choice& choice) const {
    const PoolView& view = query_.view;
    const cluster::Trial trial(view.cluster);
    for (const std::size_t position : choice) {
        view.cluster.release(query_.units[position].job, query_.units[position].ranks);
    }
    return places_now();
}

std::optional<Places> StartTest::places_now() const {
    const PoolView& view = query_.view;
    const Beneficiary& beneficiary = query_.beneficiary;
    const auto denial = quota_gate(view, beneficiary.job, beneficiary.amount);
    const bool is_ignored = set_aside_ == SetAside::Ignored;
    if (denial && !(is_ignored && denial->cause == model::Cause::SetAsideForFixedQuotas)) return {};
    if (!query_.holds_no_more()) return {};
    return place(view, beneficiary.job, beneficiary.tasks, View::Coming, beneficiary.bound_to);
}

std::optional<Places> StartTest::fits_without(const Choice& choice) const {
    if (!is_legal(choice)) return {};
    return places_if_legal(choice);
}

std::optional<Places> StartTest::minimise(Choice& choice, const Choice& give_back_order,
                                          Ledger ledger) const {
    std::optional<Places> found;
    if (choice.size() > kMinimisedUnits) return found;
    for (const std::size_t unit : give_back_order) {
        const auto taken = std::ranges::lower_bound(choice, unit);
        if (taken == choice.end() || *taken != unit) continue;
        // A job's core cannot stay away when its surplus is back, so they return from the core.
        const auto next = taken + 1;
        const bool next_is_taken =
            next != choice.end() && *next == unit + 1 && query_.units.is_of_same_job(unit, *next);
        if (next_is_taken) continue;
        Choice fewer = choice;
        fewer.erase(fewer.begin() + (taken - choice.begin()));
        auto places = ledger == Ledger::Asked ? fits_without(fewer) : places_if_legal(fewer);
        if (!places) continue;
        choice = std::move(fewer);
        found = std::move(places);
    }
    return found;
}

}  // namespace berth::scheduling
