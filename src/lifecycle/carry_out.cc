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
                                                  pause.whole_job, pause.tasks});
    }
    for (const model::Move& move : plan.moves) {
        events.emplace_back(model::PauseRequested{
            move.job, move.rule, move.beneficiary, move.cost, now + policy.pause_grace, true, {}});
    }
    for (const model::Start& start : plan.starts) {
        const model::JobRecord& job = state.jobs.at(start.job);
        const bool grows = !job.tasks.empty();
        events.emplace_back(
            model::JobStarting{start.job, job.attempts + (grows ? 0 : 1), start.rule, start.tasks});
    }
    if (!policy.sticky_plans) return events;
    const model::TimePoint deadline = now + policy.pause_grace + policy.hold;
    for (const model::Reservation& reservation : plan.reservations) {
        events.emplace_back(
            model::JobReserved{reservation.job, reservation.rule, deadline, reservation.tasks});
    }
    // A job that moves is promised its new place while it still leaves the old one.
    for (const model::Move& move : plan.moves) {
        events.emplace_back(model::JobReserved{move.job, move.rule, deadline, move.tasks});
    }
    return events;
}

}  // namespace berth::lifecycle
