// SPDX-License-Identifier: Apache-2.0
#include "control/verdicts.h"

#include <algorithm>

#include "scheduling/explain.h"

namespace berth::control {

std::optional<model::Verdict> Verdicts::why(lifecycle::State& state, const model::Policy& policy,
                                            model::TimePoint now, model::JobId id) {
    if (sequence_ != state.sequence) renew(state);
    const cluster::Job* job = state.cluster.find_job(id);
    if (job == nullptr || !job->placed.empty()) return {};
    // The decision was carried out already: on this very state it would be empty (I5).
    if (job->hold) return scheduling::explain(state.cluster, policy, {}, now, id);
    const Likeness likeness{job->project,   job->shape,     job->precedence(),
                            job->tasks_min, job->tasks_max, job->preemptible,
                            job->may_run,   job->is_parked, job->last_start != model::TimePoint{},
                            job->stay.node, job->lacking};
    const auto found = known_.find(likeness);
    model::Verdict verdict = found != known_.end()
                                 ? found->second
                                 : scheduling::explain(state.cluster, policy, {}, now, id);
    // A delay depends on when the job came, which others of its line did at other times.
    if (verdict.detail != "preemption delay") known_.emplace(likeness, verdict);
    verdict.job = id;
    verdict.position = job->is_waiting() ? position(state.cluster, *job) : 0;
    return verdict;
}

void Verdicts::renew(const lifecycle::State& state) {
    sequence_ = state.sequence;
    known_.clear();
    positions_.clear();
}

// Counts the whole line of the job's project at once: the next question is about its neighbour.
int Verdicts::position(const cluster::Cluster& cluster, const cluster::Job& job) {
    if (const auto known = positions_.find(job.id); known != positions_.end()) {
        return known->second;
    }
    const auto& lanes = cluster.claim(cluster.pools_of(job).front(), job.project).lanes;
    int ahead = 0;
    for (auto lane = lanes.begin(); lane != lanes.end();) {
        std::vector<std::pair<model::TimePoint, model::JobId>> rank;
        const cluster::LaneKey first = lane->first;
        for (; lane != lanes.end() && lane->first.precedence == first.precedence &&
               lane->first.stage == first.stage;
             ++lane) {
            rank.insert(rank.end(), lane->second.begin(), lane->second.end());
        }
        std::ranges::sort(rank);
        for (const auto& [created, id] : rank) positions_.emplace(id, ++ahead);
    }
    return positions_[job.id];
}

}  // namespace berth::control
