// SPDX-License-Identifier: Apache-2.0
#include "scheduling/passes/consolidation.h"

#include "scheduling/passes/allocate.h"
#include "scheduling/place/place.h"
#include "scheduling/rights/waste_budget.h"

namespace berth::scheduling {

using cluster::Job;

Consolidation::Consolidation(Decision& decision, const PoolView& view, int& searches)
    : decision_(decision),
      view_(view),
      searches_(searches),
      search_(
          view,
          [&decision](const Job& mover) {
              if (!decision.is_winner(mover.id)) return true;
              decision.note_spared();
              return false;
          },
          decision.cache().nodes()) {}

bool Consolidation::could_help(const cluster::LaneKey& lane) const {
    return view_.policy.moves_max > 0 && lane.preemptible && lane.stage == 0 &&
           searches_ < kMoveSearchesMax &&
           is_enough_apart(view_, lane.shape, lane.ask, View::Coming,
                           decision_.bookings(view_).kept());
}

Changed Consolidation::serve(const Job& job, bool has_opened) {
    const bool is_apart = is_enough_apart(view_, job.shape, job.ask(), View::Coming);
    if (!is_apart || !may_have(decision_, view_, job)) return {};
    ++searches_;
    if (is_waste_spent(view_, view_.wasted_gpu_ms)) {
        decision_.wake_at(waste_renewal(decision_.now()));
        return {};
    }
    if (has_opened) search_.forget();
    const Rearrangement found = search_.find(job);
    if (has_opened) search_.forget();
    if (found.worth_at) decision_.wake_at(*found.worth_at);
    if (found.moves.empty()) return {};
    decision_.move(found.moves, view_.pool);
    decision_.reserve(job.id, view_.pool, model::Rule::Consolidate, found.places);
    Changed changed{job.project};
    for (const model::Move& move : found.moves) {
        changed.push_back(view_.cluster.job(move.job).project);
    }
    return changed;
}

}  // namespace berth::scheduling
