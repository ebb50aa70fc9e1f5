// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/plan_events.h"

#include <map>
#include <optional>
#include <variant>

#include "cluster/gang.h"

namespace berth::lifecycle {

namespace {

model::PauseSide side_of(const cluster::Cluster& cluster, base::PoolId pool, model::JobId job) {
    const base::ProjectId project = cluster.job(job).project;
    const cluster::Claim& claim = cluster.claim(pool, project);
    return {cluster.projects()[project.index()].project.name, claim.usage.allocated, claim.quota};
}

// What both have in the pool of the job that is paused; none where no job gains by it.
std::optional<model::PauseSides> sides_of(const State& state, model::JobId job,
                                          model::JobId beneficiary) {
    const cluster::Cluster& cluster = state.cluster;
    const cluster::Job* other = cluster.find_job(beneficiary);
    if (other == nullptr) return {};
    const base::PoolId pool = cluster::pool_of(cluster, cluster.job(job), state.jobs.at(job).tasks);
    const cluster::Shape& shape = cluster.shape(other->shape);
    const model::MilliGpu asked =
        cluster.demand(other->shape, pool) * other->least_tasks() +
        cluster::gpus_of_companions(cluster, shape, pool, &cluster::Cluster::demand);
    return model::PauseSides{cluster.pool(pool).name, side_of(cluster, pool, job),
                             side_of(cluster, pool, beneficiary), asked};
}

}  // namespace

std::vector<model::EventBody> events_of(const State& state, const model::Plan& plan,
                                        const model::Policy& policy, model::TimePoint now) {
    const auto killed_at = [&](model::JobId job) {
        return now + state.jobs.at(job).spec.pause_grace.value_or(policy.pause_grace);
    };
    std::vector<model::EventBody> events;
    events.reserve(plan.dropped.size() + plan.pauses.size() + 2 * plan.moves.size() +
                   plan.starts.size() + plan.reservations.size());
    for (const model::NodeMove& move : plan.node_moves) {
        events.emplace_back(model::NodeMoved{move.node, move.pool, move.replaces});
    }
    for (const model::JobId job : plan.dropped) {
        events.emplace_back(model::ReservationDropped{job});
    }
    for (const model::Pause& pause : plan.pauses) {
        events.emplace_back(model::PauseRequested{pause.job, pause.rule, pause.beneficiary,
                                                  pause.cost, killed_at(pause.job), pause.whole_job,
                                                  pause.tasks, pause.is_wasteful,
                                                  sides_of(state, pause.job, pause.beneficiary)});
    }
    for (const model::Move& move : plan.moves) {
        events.emplace_back(model::PauseRequested{move.job,
                                                  move.rule,
                                                  move.beneficiary,
                                                  move.cost,
                                                  killed_at(move.job),
                                                  true,
                                                  {},
                                                  move.is_wasteful,
                                                  sides_of(state, move.job, move.beneficiary)});
    }
    // A job that both starts and grows in one plan is started once, with all of it.
    std::map<model::JobId, std::size_t> known;
    for (const model::Start& start : plan.starts) {
        const auto [at, is_new] = known.emplace(start.job, events.size());
        if (!is_new) {
            auto& tasks = std::get<model::JobStarting>(events[at->second]).tasks;
            tasks.insert(tasks.end(), start.tasks.begin(), start.tasks.end());
            continue;
        }
        const model::JobRecord& job = state.jobs.at(start.job);
        const bool goes_on = !job.tasks.empty() || !job.frozen.empty();
        events.emplace_back(model::JobStarting{start.job, job.attempts + (goes_on ? 0 : 1),
                                               start.rule, start.tasks});
    }
    for (const model::Reservation& reservation : plan.reservations) {
        events.emplace_back(model::JobReserved{reservation.job, reservation.rule,
                                               reservation.deadline, reservation.tasks});
    }
    // A job that moves is promised its new place while it still leaves the old one.
    for (const model::Move& move : plan.moves) {
        events.emplace_back(model::JobReserved{move.job, move.rule, move.deadline, move.tasks});
    }
    return events;
}

model::EventBody event_of_leaving(const model::JobRecord& job, const Leaving& leaving) {
    if (!job.is_resizing()) return model::JobPaused{job.id, leaving.saved};
    return model::JobResized{job.id, job.attempts + 1, leaving.saved,
                             leaving.saved ? 0 : leaving.unsaved_gpu_ms};
}

}  // namespace berth::lifecycle
