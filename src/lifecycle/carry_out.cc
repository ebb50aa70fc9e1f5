// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/carry_out.h"

namespace berth::lifecycle {

std::vector<model::EventBody> events_of(const State& state, const model::Plan& plan,
                                        const model::Policy& policy, model::TimePoint now) {
    std::vector<model::EventBody> events;
    for (const model::JobId job : plan.dropped) {
        events.emplace_back(model::ReservationDropped{job});
    }
    for (const model::Pause& pause : plan.pauses) {
        events.emplace_back(model::PauseRequested{pause.job, pause.rule, pause.beneficiary,
                                                  pause.cost, now + policy.pause_grace,
                                                  pause.whole_job, pause.tasks, pause.is_wasteful});
    }
    for (const model::Start& start : plan.starts) {
        const model::JobRecord& job = state.jobs.at(start.job);
        const bool grows = !job.tasks.empty();
        events.emplace_back(
            model::JobStarting{start.job, job.attempts + (grows ? 0 : 1), start.rule, start.tasks});
    }
    if (!policy.sticky_plans) return events;
    for (const model::Reservation& reservation : plan.reservations) {
        events.emplace_back(model::JobReserved{reservation.job, reservation.rule,
                                               now + policy.pause_grace + policy.hold,
                                               reservation.tasks});
    }
    return events;
}

}  // namespace berth::lifecycle
