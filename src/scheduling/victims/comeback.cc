// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims/comeback.h"

#include <algorithm>

#include "scheduling/rights/minimum_run.h"

namespace berth::scheduling {
namespace {

// The least that `project` destroys when it takes something back from another one.
std::optional<std::int64_t> least_taken_by(VictimQuery& query, ProjectId project) {
    const PoolView& view = query.view;
    const Terms terms = terms_of_reclaim(view, project);
    std::optional<std::int64_t> least;
    for (std::size_t i = 0; i < view.cluster.projects().size(); ++i) {
        const ProjectId other{static_cast<ProjectId::Rep>(i)};
        const bool is_third = other != project && other != query.beneficiary.job.project;
        if (!is_third || view.claim(other).victims.empty()) continue;
        const ProjectId sibling = parting(view, other, project);
        if (view.allocated(sibling) <= view.shares.allocatable[sibling.index()]) continue;
        const auto lost = query.prices.least_lost(terms, other);
        if (lost) least = std::min(least.value_or(*lost), *lost);
    }
    return least;
}

}  // namespace

void price_comebacks(VictimQuery& query) {
    if (query.terms.from_own) return;
    const PoolView& view = query.view;
    for (const ProjectId project : query.projects) {
        const MilliGpu allocated = view.allocated(project);
        const bool asks_again =
            allocated > MilliGpu{0} && allocated <= view.shares.fair[project.index()];
        if (!asks_again) continue;
        query.takes_back.resize(view.cluster.projects().size());
        query.takes_back[project.index()] = least_taken_by(query, project);
    }
}

}  // namespace berth::scheduling
