// SPDX-License-Identifier: Apache-2.0
//
// Whose jobs are paused when the beneficiary needs one domain? Slots taken where they are
// cheapest would lie anywhere, so they are taken in each domain by itself, and the domain where
// least work is lost is taken: then the fewest jobs, then the first path.
#include <algorithm>

#include "scheduling/place/domains.h"
#include "scheduling/victims/cheapest_nodes.h"
#include "scheduling/victims/victim_query.h"

namespace berth::scheduling {
namespace {

Cost price(const VictimQuery& query, const Choice& choice) {
    Cost cost;
    for (std::size_t i = 0; i < choice.size(); ++i) {
        const bool continues = i > 0 && query.units.is_of_same_job(choice[i - 1], choice[i]);
        cost.lost += query.lost(choice[i]);
        cost.stopped += query.units[choice[i]].takes_whole_job ? 1 : 0;
        cost.touched += continues ? 0 : 1;
    }
    return cost;
}

}  // namespace

std::optional<Chosen> choose_cheapest_domain(const VictimQuery& query, CheapestNodes& nodes) {
    std::optional<Chosen> best;
    for (const Region& region : required_regions(query.view, query.beneficiary.job)) {
        Beneficiary inside_domain = query.beneficiary;
        inside_domain.bound_to = region;
        VictimQuery inside{query.view, inside_domain, query.terms,  query.units,    query.prices,
                           query.work, query.scratch, query.ledger, query.projects, query.few};
        inside.takes_back = query.takes_back;
        nodes.close();
        nodes.reopen(inside);
        auto chosen = choose_cheapest(inside, nodes);
        if (!chosen) continue;
        if (!best || price(query, chosen->units) < price(query, best->units)) {
            best = std::move(chosen);
        }
    }
    nodes.close();
    if (!best) return {};
    // What is given back may make room in another domain as well.
    const Choice last_first(best->units.rbegin(), best->units.rend());
    auto fewer = StartTest(query).minimise(best->units, last_first, StartTest::Ledger::Asked);
    if (fewer) best->places = std::move(*fewer);
    return best;
}

}  // namespace berth::scheduling
