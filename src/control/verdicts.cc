// SPDX-License-Identifier: Apache-2.0
#include "control/verdicts.h"

#include <algorithm>
#include <chrono>

#include "scheduling/explain/explain.h"

namespace berth::control {
namespace {

constexpr base::Duration kMomentKnown = std::chrono::seconds(1);

}  // namespace

std::optional<model::Verdict> Verdicts::why(lifecycle::State& state, const model::Policy& policy,
                                            model::TimePoint now, model::JobId id) {
    if (sequence_ != state.sequence || now >= known_until_) renew(state);
    const cluster::Job* job = state.cluster.find_job(id);
    if (job == nullptr) return {};
    const bool grows = job->elastic == model::Elastic::Grow && job->gang_phase() > 0;
    if (!job->placed.empty() && !(grows && job->is_waiting())) return {};
    // The decision was carried out already: on this very state it would be empty (I5).
    if (job->reservation || grows) return scheduling::explain(state.cluster, policy, {}, now, id);
    const auto [found, is_new] = known_.try_emplace(
        scheduling::verdict_class_of(state.cluster, *job, now), model::Verdict{});
    if (is_new) found->second = scheduling::explain(state.cluster, policy, {}, now, id);
    model::Verdict verdict = found->second;
    if (verdict.until) known_until_ = std::min(known_until_, now + kMomentKnown);
    verdict.job = id;
    verdict.position = 0;
    if (job->is_waiting()) {
        const base::PoolId pool = state.cluster.pools_of(*job).front();
        verdict.position =
            cluster::position_in_queue(state.cluster.claim(pool, job->project).queue, *job);
    }
    return verdict;
}

void Verdicts::renew(const lifecycle::State& state) {
    sequence_ = state.sequence;
    known_.clear();
    known_until_ = model::TimePoint::max();
}

}  // namespace berth::control
