// SPDX-License-Identifier: Apache-2.0
//
// Who is paused so that this job can start? The search behind reclaim and preempt.
//
// Victims are taken in units (victim_units.h). Two ways to choose:
//   cheapest  (profile berth) the legal set with the least lost work, then the fewest jobs that
//             stop, then the fewest jobs.
//             Exact when at most kExactUnits units are legal; beyond that the cheapest slot on
//             each node, one slot after the other; where no group of a gang can stand there, more
//             of the cheapest as long as that is legal, else in order.
//   in order  (profile classic, rule R8) worst project first, lowest priority, surplus first,
//             youngest first, until it fits; then each job that can keep its place keeps it, best
//             first.
// Either way the result is minimal (I7: give any unit back and the job no longer starts), legal
// by the ledger, and comes with the places of the beneficiary (I6: no pause without a start).
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "scheduling/victims/bounds.h"
#include "scheduling/victims/cheapest_nodes.h"
#include "scheduling/victims/victim_units.h"

namespace berth::scheduling {

inline constexpr int kExactUnits = 10;

struct FoundVictims {
    Choice units;  // positions in the table of units
    Places places;  // of the beneficiary, in the Coming view
    // The earliest time at which a job now protected by its minimum run may be paused.
    std::optional<TimePoint> protected_until;
    bool exceeds_capacity = false;  // all that may be taken leaves too few GPUs together
};

// All searches of one decision in one pool. They share what stays true from one to the next: the
// units, and the price of a slot on nodes where nothing changed.
class VictimSearch {
  public:
    // Makes it ready for a decision, or another try at one. The view outlives the decision.
    void open(const PoolView& view);

    // The units to pause, or none when nothing legal helps. The cluster is as before after the
    // call.
    FoundVictims find(const Beneficiary& beneficiary);
    const VictimUnit& unit(std::size_t position) const { return units_[position]; }

    // Says that the decision pauses this unit, or moves this job.
    void take(std::size_t position);
    void take(const cluster::Job& job);
    // Says that jobs that have started meanwhile may be victims.
    void look_again();

  private:
    struct CachedOrder {
        Terms terms;
        ShapeId shape;
        CheapestNodes slots;
    };
    CheapestNodes& nodes(const Terms& terms, ShapeId shape);
    std::optional<Chosen> choose(VictimQuery& query);
    std::optional<Chosen> choose_by_cost(const VictimQuery& query);

    const PoolView* view_ = nullptr;
    VictimUnits units_;
    UnitPrices prices_;
    NodeWork work_;
    Bounds bounds_;
    std::deque<CachedOrder> orders_;  // those in use, then those whose memory is kept
    std::size_t orders_used_ = 0;
    CheapestNodes own_;  // for who is bound to a node
    SlotScratch scratch_;
};

}  // namespace berth::scheduling
