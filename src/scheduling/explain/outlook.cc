// SPDX-License-Identifier: Apache-2.0
#include "scheduling/explain/outlook.h"

#include "scheduling/explain/suggestion.h"

namespace berth::scheduling {

Outlook outlook(const cluster::Cluster& cluster, const model::Policy& policy, model::TimePoint now,
                const model::Verdict& verdict, const model::JobSpec& spec, const Work& work) {
    const auto estimates = estimate_starts(cluster, policy, now, work, bounds_for(cluster),
                                           std::span(&verdict.job, 1));
    const model::StartEstimate& estimate = estimates.at(verdict.job);
    // What a suggestion frees may take its grace to leave.
    const bool starts_anyway =
        estimate.optimistic && *estimate.optimistic <= now + policy.pause_grace;
    if (starts_anyway) return {estimate, {}};
    return {estimate, find_suggestion(cluster, policy, now, verdict, spec, tries_for(cluster))};
}

}  // namespace berth::scheduling
