// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims/victims.h"

#include <algorithm>

#include "scheduling/place/companions.h"
#include "scheduling/rights/quota_gate.h"
#include "scheduling/victims/comeback.h"
#include "scheduling/victims/victim_query.h"

namespace berth::scheduling {
namespace {

// Orders of nodes that are kept from one decision to the next: each is as large as the pool has
// nodes.
constexpr std::size_t kOrdersKept = 256;

void find_projects_to_take_from(VictimQuery& query) {
    const PoolView& view = query.view;
    if (!query.asks_ledger()) {
        query.projects.push_back(query.beneficiary.job.project);
        return;
    }
    // The smallest unit decides whether anything at all may be taken from there.
    static constexpr UnitSize kLeast{MilliGpu{1}};
    static constexpr UnitSize kLeastWithoutGpus{};
    for (std::size_t i = 0; i < view.cluster.projects().size(); ++i) {
        const ProjectId project{static_cast<ProjectId::Rep>(i)};
        const cluster::Claim& claim = view.claim(project);
        const bool may_lose =
            (!claim.victims.empty() && query.ledger.may_take(project, kLeast)) ||
            (claim.cpu_only_victims > 0 && query.ledger.may_take(project, kLeastWithoutGpus));
        if (may_lose) query.projects.push_back(project);
    }
}

// Whether even the most that may be taken from every side is too little: decides many refusals
// without looking at a single unit.
bool could_never_have_room(const VictimQuery& query) {
    const PoolView& view = query.view;
    if (counting_of(view, query.beneficiary.job.shape) == Counting::AtMost) return false;
    struct Sum {
        MilliGpu gpus{0};
        MilliGpu largest{0};
    };
    base::SmallVector<Sum, 64> sums(query.ledger.accounts() + 1);  // the last: its own project
    for (const ProjectId project : query.projects) {
        Sum& sum = sums[query.ledger.account_of(project).value_or(query.ledger.accounts())];
        sum.gpus += most_allowed(view, query.terms, project);
        sum.largest = std::max(sum.largest, view.claim(project).losses.largest);
    }
    MilliGpu reachable =
        view.cluster.pool(view.pool).free_total[static_cast<std::size_t>(View::Coming)];
    for (const ProjectId project : query.projects) {
        const auto account = query.ledger.account_of(project);
        Sum& sum = sums[account.value_or(query.ledger.accounts())];
        reachable += account
                         ? std::min(sum.gpus, query.ledger.reclaimable_from(project, sum.largest))
                         : sum.gpus;
        sum = {};  // once for each side
    }
    return reachable < query.beneficiary.amount;
}

std::optional<TimePoint> first_protection_end(const VictimQuery& query) {
    std::optional<TimePoint> first;
    for (const ProjectId project : query.projects) {
        const auto until = next_protection_end(query.view, query.terms, project);
        if (until) first = std::min(first.value_or(*until), *until);
    }
    return first;
}

// Whether companions would have no room if all left who may be paused: slots do not say.
bool has_no_room_for_companions(const VictimQuery& query) {
    if (!lacks_companions(query.beneficiary.job)) return false;
    const StartTest test(query, StartTest::SetAside::Ignored);
    return !test.places_if_legal(query.candidates());
}

}  // namespace

void VictimSearch::open(const PoolView& view) {
    view_ = &view;
    view.cluster.keep_losses({view.policy.min_run, view.policy.min_run_restarts}, view.now);
    units_.open(view);
    prices_.open(view, units_);
    orders_used_ = 0;
    orders_.resize(std::min(orders_.size(), kOrdersKept));
}

CheapestNodes& VictimSearch::nodes(const Terms& terms, ShapeId shape) {
    for (std::size_t i = 0; i < orders_used_; ++i) {
        if (orders_[i].shape == shape && orders_[i].terms == terms) return orders_[i].slots;
    }
    if (orders_used_ == orders_.size()) orders_.emplace_back();
    CachedOrder& entry = orders_[orders_used_++];
    entry.terms = terms;
    entry.shape = shape;
    entry.slots.close();
    return entry.slots;
}

FoundVictims VictimSearch::find(const Beneficiary& beneficiary) {
    if (beneficiary.rule == model::Rule::Reclaim) {
        const cluster::Job& job = beneficiary.job;
        const Counting counting = counting_of(*view_, job.shape);
        if (!could_be_freed(*view_, job.project, beneficiary.amount, counting)) return {};
    }
    VictimQuery query{*view_,
                      beneficiary,
                      terms_of(*view_, beneficiary),
                      units_,
                      prices_,
                      work_,
                      scratch_,
                      beneficiary.rule == model::Rule::Reclaim ? ReclaimLedger(*view_, beneficiary)
                                                               : ReclaimLedger(),
                      {}};
    const ProjectId project = beneficiary.job.project;
    query.most_held = std::max(view_->allocated(project), view_->shares.fair[project.index()]);
    find_projects_to_take_from(query);
    FoundVictims found;
    found.protected_until = first_protection_end(query);
    if (could_never_have_room(query)) return found;
    const Bounds::Extent extent = bounds_.extent(query);
    found.exceeds_capacity = !extent.is_enough;
    if (found.exceeds_capacity) return found;
    query.nodes = extent.nodes;
    if (has_no_room_for_companions(query)) return found;
    query.few = units_.few_allowed(query.terms, query.projects, kExactUnits);
    if (query.few && query.few->empty()) return found;
    std::optional<Chosen> chosen = choose(query);
    if (!chosen) return found;
    found.units = std::move(chosen->units);
    std::ranges::sort(found.units, [&](std::size_t left, std::size_t right) {
        return units_.comes_before(left, right);
    });
    found.places = std::move(chosen->places);
    return found;
}

std::optional<Chosen> VictimSearch::choose(VictimQuery& query) {
    const bool wants_cheapest = view_->policy.cheapest_victims;
    if (wants_cheapest) price_comebacks(query);
    std::optional<Chosen> chosen;
    if (query.terms.by_rank || !wants_cheapest) chosen = choose_in_order(query);
    if (!chosen) chosen = choose_by_cost(query);
    // What is cheapest may lie where no group or companion of a gang can stand, and the ledger
    // allow no more; or be what fixed projects hold, and be set aside for them again.
    const bool is_set_apart = std::ranges::any_of(
        query.projects, [&](ProjectId project) { return is_set_aside(*view_, project); });
    const bool is_inexact = (query.needs_more_than_slots() || is_set_apart) && !query.few;
    if (!chosen && is_inexact && wants_cheapest) chosen = choose_in_order(query);
    return chosen;
}

std::optional<Chosen> VictimSearch::choose_by_cost(const VictimQuery& query) {
    // Who is bound to a node finds nothing there that others could go on with.
    const bool is_bound = !query.beneficiary.bound_to.is_whole_pool();
    const ShapeId shape = query.beneficiary.job.shape;
    own_.close();
    CheapestNodes& nodes = is_bound ? own_ : this->nodes(query.terms, shape);
    const bool needs_domain = !is_bound && view_->cluster.shape(shape).required >= 0;
    if (needs_domain && !query.few) return choose_cheapest_domain(query, nodes);
    if (!query.few) nodes.reopen(query);
    return choose_cheapest(query, nodes);
}

void VictimSearch::take(const cluster::Job& job) {
    units_.take_all(job.id);
    prices_.forget(job.project);
}

void VictimSearch::look_again() {
    units_.look_again();
    orders_used_ = 0;
}

void VictimSearch::take(std::size_t position) {
    units_.take(position);
    prices_.forget(units_[position].project);
}

}  // namespace berth::scheduling
