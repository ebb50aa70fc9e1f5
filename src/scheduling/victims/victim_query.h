// SPDX-License-Identifier: Apache-2.0
//
// Would the beneficiary start if exactly these units were gone? The one test that every choice
// of victims must pass: gates, ledger, and a real placement on the cluster inside a Trial.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "scheduling/place/place.h"
#include "scheduling/rights/reclaim.h"
#include "scheduling/victims/node_work.h"
#include "scheduling/victims/unit_prices.h"

namespace berth::scheduling {

struct SlotScratch;

// What one search for victims is about.
struct VictimQuery {
    const PoolView& view;
    const Beneficiary& beneficiary;
    Terms terms;
    VictimUnits& units;
    UnitPrices& prices;
    NodeWork& work;
    SlotScratch& scratch;  // of the prices of slots
    ReclaimLedger ledger;  // nothing taken yet
    base::SmallVector<ProjectId, 128> projects;  // whose work may be taken at all
    std::optional<Choice> few = {};  // all units that may be taken, where they are few
    // On which alone a slot may be had, if that is known (bounds.h).
    std::optional<std::span<const NodeId>> nodes = {};

    // By project: what it would destroy by taking back what it loses here (comeback.h).
    base::SmallVector<std::optional<std::int64_t>, 128> takes_back = {};

    // Preemption frees GPUs that others may have a right to: by it no project comes to hold more
    // than before, unless within its fair share; else it would give back what it just took.
    MilliGpu most_held{0};

    // Whether slots for its tasks are not all it needs: groups stand together, and companions ask
    // something else.
    bool needs_more_than_slots() const {
        const cluster::Job& job = beneficiary.job;
        return !view.cluster.shape(job.shape).groups.empty() || job.lacking_companions > 0;
    }
    const model::TaskRequest& request() const {  // of each of its tasks
        return view.cluster.shape(beneficiary.job.shape).request;
    }
    // Inside a Trial, of what was taken so far.
    bool holds_no_more() const {
        const MilliGpu in_use = view.allocated(beneficiary.job.project);
        return asks_ledger() || in_use + beneficiary.amount <= most_held;
    }
    bool asks_ledger() const { return beneficiary.rule == model::Rule::Reclaim; }
    // Whether the unit may be taken on top of what the ledger says.
    bool may_take(std::size_t unit, const ReclaimLedger& so_far) const {
        return units.allows(terms, unit) &&
               (!asks_ledger() || so_far.may_take(units[unit].project, units[unit]));
    }
    // Work that pausing the unit destroys, in the end.
    std::int64_t lost(std::size_t unit) const {
        return prices.lost(terms, unit, taken_back_by(units[unit].project));
    }
    // The least that pausing any of it destroys, in the end.
    std::int64_t lost(const NodeWork::JobPart& part) const {
        if (has(view.started_now, part.loss.job)) return 0;
        cluster::LossKey loss = part.loss;
        loss.priority_key = view.cluster.job(loss.job).priority_key();
        return least_lost(part.project, loss);
    }
    // The least that pausing any unit of this job of the project destroys, in the end.
    std::int64_t least_lost(ProjectId project, const cluster::LossKey& next) const {
        return prices.least_lost(terms, project, next, taken_back_by(project));
    }
    std::optional<std::int64_t> taken_back_by(ProjectId project) const {
        return takes_back.empty() ? std::nullopt : takes_back[project.index()];
    }
    // All units that may be taken.
    Choice candidates() const { return units.allowed(terms, projects); }
};

class StartTest {
  public:
    // Room only grows with what is taken, unless what is set aside for fixed quotas is kept: it may
    // grow by more.
    enum class SetAside { Kept, Ignored };
    explicit StartTest(const VictimQuery& query, SetAside set_aside = SetAside::Kept)
        : query_(query), set_aside_(set_aside) {}

    // The beneficiary's places when the chosen units have left; nothing when it cannot start or
    // the set is not legal.
    std::optional<Places> fits_without(const Choice& choice) const;

    // The same, without asking the ledger.
    std::optional<Places> places_if_legal(const Choice& choice) const;

    // Both halves of the first, for who has a Trial in which they have left already.
    bool is_legal(const Choice& choice) const;
    std::optional<Places> places_now() const;

    // Gives back units the beneficiary does not need, in the order given, as long as it still
    // starts, and legally where the ledger is asked. Afterwards the choice is minimal when it had
    // at most kMinimisedUnits units. Returns the places found by the last success, if any.
    enum class Ledger { Asked, Ignored };
    std::optional<Places> minimise(Choice& choice, const Choice& give_back_order,
                                   Ledger ledger) const;

  private:
    const VictimQuery& query_;
    SetAside set_aside_;
};

inline constexpr std::size_t kMinimisedUnits = 64;

// What was chosen, and where the beneficiary then goes.
struct Chosen {
    Choice units;
    Places places;
};

class CheapestNodes;

// The ways to choose; nothing when nothing legal helps. In one domain: for a job that requires
// one, the cheapest choice of each domain of that level.
std::optional<Chosen> choose_cheapest(const VictimQuery& query, CheapestNodes& nodes);
std::optional<Chosen> choose_cheapest_domain(const VictimQuery& query, CheapestNodes& nodes);
std::optional<Chosen> choose_in_order(const VictimQuery& query);

}  // namespace berth::scheduling
