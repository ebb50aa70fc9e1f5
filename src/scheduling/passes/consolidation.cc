// SPDX-License-Identifier: Apache-2.0
#include "scheduling/passes/consolidation.h"

#include <algorithm>

#include "scheduling/passes/allocate.h"
#include "scheduling/place/companions.h"
#include "scheduling/place/place.h"
#include "scheduling/rights/waste_budget.h"

namespace berth::scheduling {

using cluster::Job;

namespace {

// What it asks is all that moves are looked for: it runs nowhere, is bound to no node and lacks no
// companions.
bool is_like_others(const Job& job) {
    return job.placed.empty() && !job.pinned.node.is_valid() && !lacks_companions(job);
}

}  // namespace

Consolidation::Consolidation(Decision& decision, const PoolView& view, int& searches)
    : decision_(decision),
      view_(view),
      searches_(searches),
      search_(
          view,
          [&decision](const Job& migration) {
              if (!decision.is_given_now(migration.id)) return true;
              decision.note_untouchable();
              return false;
          },
          decision.cache().nodes()) {}

bool Consolidation::could_help(const cluster::JobClassKey& job_class) const {
    return view_.policy.moves_max > 0 && job_class.preemptible && job_class.gang_phase == 0 &&
           searches_ < kMoveSearchesMax &&
           enough_on_separate_nodes(view_, job_class.shape, job_class.ask, View::Coming,
                                    decision_.backfill(view_).kept_gpus());
}

Changed Consolidation::serve(const Job& job, Backfill::Opening& opening) {
    const MilliGpu opened = opening.gpus();
    if (!enough_on_separate_nodes(view_, job.shape, job.ask(), View::Coming, opened)) return {};
    opening.open();
    if (!may_have(decision_, view_, job) || is_refused(job, opening)) return {};
    ++searches_;
    if (is_waste_spent(view_, view_.wasted_gpu_ms)) {
        decision_.wake_at(waste_renewal(decision_.now()));
        return {};
    }
    const bool has_opened = opened > MilliGpu{0};
    if (has_opened) search_.forget();
    const FoundMoves found = search_.find(job);
    if (has_opened) search_.forget();
    if (found.worth_at) decision_.wake_at(*found.worth_at);
    if (found.moves.empty()) {
        refuse(job, opening);
        return {};
    }
    decision_.move(found.moves, view_.pool);
    decision_.reserve(job.id, view_.pool, model::Rule::Consolidate, found.places);
    Changed changed{job.project};
    for (const model::Move& move : found.moves) {
        changed.push_back(view_.cluster.job(move.job).project);
    }
    return changed;
}

bool Consolidation::is_refused(const Job& job, const Backfill::Opening& opening) const {
    const auto opened = opening.which();
    if (!opened || !is_like_others(job)) return false;
    return std::ranges::any_of(refused_, [&](const Refused& known) {
        return known.shape == job.shape && known.tasks == job.ask() && known.opened == *opened &&
               known.waiting_since <= job.waiting_since;
    });
}

void Consolidation::refuse(const Job& job, const Backfill::Opening& opening) {
    const auto opened = opening.which();
    if (!opened || !is_like_others(job)) return;
    refused_.push_back({job.shape, job.ask(), *opened, job.waiting_since});
}

}  // namespace berth::scheduling
