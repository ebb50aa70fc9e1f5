// SPDX-License-Identifier: Apache-2.0
//
// Whose jobs are paused when the beneficiary needs one domain? Slots bought where they are
// cheapest would lie anywhere, so they are bought in each domain by itself, and the domain where
// least work is lost is taken: then the fewest jobs, then the first path.
#include <algorithm>
#include <tuple>

#include "scheduling/domains.h"
#include "scheduling/eviction.h"
#include "scheduling/slot_market.h"

namespace berth::scheduling {
namespace {

std::tuple<std::int64_t, std::size_t> price(const Hunt& hunt, const Choice& choice) {
    std::int64_t cost = 0;
    std::size_t jobs = 0;
    for (std::size_t i = 0; i < choice.size(); ++i) {
        cost += hunt.cost(choice[i]);
        jobs += i == 0 || !hunt.pieces.is_of_same_job(choice[i - 1], choice[i]);
    }
    return {cost, jobs};
}

}  // namespace

std::optional<Chosen> choose_cheapest_domain(const Hunt& hunt, SlotMarket& market) {
    std::optional<Chosen> best;
    for (const Region& region : required_regions(hunt.view, hunt.beneficiary.job)) {
        Beneficiary here = hunt.beneficiary;
        here.within = region;
        Hunt inside{hunt.view,    here,        hunt.terms,    hunt.pieces,
                    hunt.scratch, hunt.ledger, hunt.projects, hunt.count};
        market.close();
        market.reopen(inside, {});
        auto chosen = choose_cheapest(inside, market);
        if (!chosen) continue;
        if (!best || price(hunt, chosen->pieces) < price(hunt, best->pieces)) {
            best = std::move(chosen);
        }
    }
    market.close();
    if (!best) return {};
    // What is given back may make room in another domain as well.
    const Choice last_first(best->pieces.rbegin(), best->pieces.rend());
    auto fewer = EvictionTest(hunt).prune(best->pieces, last_first, EvictionTest::Ledger::Asked);
    if (fewer) best->places = std::move(*fewer);
    return best;
}

}  // namespace berth::scheduling
