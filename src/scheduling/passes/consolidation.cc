// SPDX-License-Identifier: Apache-2.0
#include "scheduling/passes/consolidation.h"

#include <algorithm>

#include "scheduling/passes/allocate.h"
#include "scheduling/place/companions.h"
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
    const std::optional<Question> asked = question(job, opening);
    if (asked && is_refused(*asked)) return {};
    opening.open();
    if (!may_have(view_, job, opening)) return {};
    ++searches_;
    if (is_waste_spent(view_, view_.wasted_gpu_ms)) {
        decision_.wake_at(waste_renewal(decision_.now()));
        return {};
    }
    const FoundMoves found = search_.find(job, opening.which());
    if (found.worth_at) decision_.wake_at(*found.worth_at);
    if (found.moves.empty()) {
        if (asked) refused_.push_back(*asked);
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

std::optional<Consolidation::Question> Consolidation::question(const Job& job,
                                                               const Backfill::Opening& opening) {
    const bool is_like_others =
        job.placed.empty() && !job.pinned.node.is_valid() && !lacks_companions(job);
    const auto opened = opening.which();
    if (!opened || !is_like_others) return {};
    return Question{job.shape, job.ask(), *opened, job.waiting_since};
}

bool Consolidation::is_refused(const Question& question) const {
    return std::ranges::any_of(refused_, [&](const Question& known) {
        return known.shape == question.shape && known.tasks == question.tasks &&
               known.opened == question.opened && known.waiting_since <= question.waiting_since;
    });
}

}  // namespace berth::scheduling
