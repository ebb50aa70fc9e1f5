// SPDX-License-Identifier: Apache-2.0
#include "scheduling/job_order.h"

namespace berth::scheduling {

std::optional<Candidate> JobOrder::next(base::ProjectId project,
                                        const cluster::Claim& claim) const {
    std::optional<Candidate> best;
    std::pair<model::TimePoint, base::JobId> best_age;
    for (const auto& [key, lane] : claim.lanes) {
        // Lanes are sorted by priority and stage; later ones cannot win any more.
        if (best && (key.priority != best->lane.priority || key.stage != best->lane.stage)) break;
        if (closed_.contains(key)) continue;
        auto oldest = lane.begin();
        while (!passed_.empty() && oldest != lane.end() && passed_.contains(oldest->second)) {
            ++oldest;
        }
        if (oldest == lane.end() || (best && best_age < *oldest)) continue;
        best = Candidate{project, key, oldest->second};
        best_age = *oldest;
    }
    return best;
}

}  // namespace berth::scheduling
