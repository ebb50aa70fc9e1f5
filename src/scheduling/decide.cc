// SPDX-License-Identifier: Apache-2.0
#include "scheduling/decide.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "scheduling/passes/decision.h"
#include "scheduling/passes/node_moves.h"
#include "scheduling/passes/rehouse.h"
#include "scheduling/passes/serve.h"
#include "scheduling/passes/settle.h"
#include "scheduling/passes/stale_gangs.h"

namespace berth::scheduling {
namespace {

using cluster::Cluster;
using model::Plan;

// Each further attempt costs a whole decision; one is the rule. A fourth decided nothing better in
// any small cluster (tests/properties/exhaustive.cc); with two, owners wait that need not.
constexpr int kAttemptsMax = 3;

constexpr std::array<Ways, 1> kTogether{{{.moves = true, .reclaims = true, .preempts = true}}};
constexpr std::array<Ways, 3> kApart{{{.moves = true}, {.reclaims = true}, {.preempts = true}}};

void start_reserved(Decision& decision) {
    decision.cache().reservations().start_due(
        decision, [&](JobId job) { return decision.attempt().known.contains(job); });
}

void look_at_pools(Decision& decision) { decision.look_at_pools(); }

// The next attempt books as the first one did: it finds the same cluster.
void book(Decision& decision) {
    for (const PoolView& view : decision.pools()) {
        Backfill& backfill = decision.backfill(view);
        if (decision.attempt().is_first) {
            backfill.make(view, decision.cache().node_seats());
        } else {
            backfill.keep_again(view);
        }
        if (const auto change = backfill.next_change()) decision.wake_at(*change);
    }
}

void serve(Decision& decision) {
    Serving serving(decision);
    serving.allocate();
    if (decision.policy().actions_apart) {
        serving.make_room(kApart);
    } else {
        serving.make_room(kTogether);
    }
}

struct Pass {
    const char* name;
    void (*run)(Decision&);
};
constexpr std::array<Pass, 7> kPasses{{
    {"start what is reserved", start_reserved},
    {"look at shares and rights", look_at_pools},
    {"book for gangs", book},
    {"serve", serve},
    {"rehouse", rehouse},
    {"pause stale gangs", pause_stale_gangs},
    {"settle", settle},
}};

Plan plan_of(Decision& decision) {
    Plan plan = decision.take_plan();
    for (const PoolView& view : decision.pools()) {
        std::ranges::copy(view.shares.overcommitted, std::back_inserter(plan.overcommitted));
        plan.backfill = decision.backfill(view).still_waiting(std::move(plan.backfill));
    }
    return plan;
}

}  // namespace

// A job that takes idle GPUs can turn out to be in the way of an owner. Starting it to pause it at
// once would be a waste, so the decision is made again, the owner being served just before the job
// in its way, which may then find another place.
Plan decide(Cluster& cluster, const model::Policy& policy, TimePoint now, DecisionCache& cache) {
    cluster::keep_ranks(cluster, policy.order, now);
    cluster.keep_losses({policy.min_run, policy.min_run_restarts}, now);
    if (Plan plan; !(plan.node_moves = node_moves(cluster)).empty()) {
        plan.next_wakeup = now;
        return plan;
    }
    const GivenUp given_up = scheduling::given_up(cluster, now);
    Withdrawals known(cache.nodes());
    bool is_last = false;
    for (int count = 1;; ++count) {
        const cluster::Trial trial(cluster);
        Decision decision(cluster, policy, now, cache, {known, count == 1, is_last});
        for (const Pass& pass : kPasses) pass.run(decision);
        if (is_last || decision.withdrawals().empty()) {
            if (given_up.next) decision.wake_at(*given_up.next);
            Plan plan = plan_of(decision);
            plan.give_ups = given_up.jobs;
            return plan;
        }
        add(known, decision.withdrawals());
        is_last = count + 1 == kAttemptsMax;
    }
}

Plan decide(Cluster& cluster, const model::Policy& policy, TimePoint now) {
    DecisionCache cache;
    return decide(cluster, policy, now, cache);
}

Plan decide_on(Cluster& copy, const model::Policy& policy, TimePoint now) {
    std::vector<model::NodeMove> moves = move_nodes(copy);
    Plan plan = decide(copy, policy, now);
    plan.node_moves = std::move(moves);
    return plan;
}

}  // namespace berth::scheduling
