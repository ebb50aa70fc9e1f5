// SPDX-License-Identifier: Apache-2.0
#include "scheduling/plan_apply.h"

#include "cluster/gang.h"

namespace berth::scheduling {

void carry_out(cluster::Cluster& cluster, const model::Plan& plan) {
    const auto pool_of = [&](const auto& given) {
        return cluster::pool_of(cluster, cluster.job(given.job), given.tasks);
    };
    for (const base::JobId job : plan.dropped) cluster.drop_reservation(job);
    for (const model::Pause& pause : plan.pauses) cluster.release(pause.job, pause.tasks);
    for (const model::Move& move : plan.moves) {
        cluster.release(move.job, cluster.job(move.job).ranks());
    }
    for (const model::Start& start : plan.starts) {
        if (cluster.job(start.job).reservation) cluster.drop_reservation(start.job);
        cluster.place(start.job, pool_of(start), start.tasks);
    }
    const auto reserve = [&](const auto& given) {
        cluster.reserve(given.job, pool_of(given), given.tasks, given.deadline, given.rule);
    };
    for (const model::Reservation& reservation : plan.reservations) reserve(reservation);
    for (const model::Move& move : plan.moves) reserve(move);
}

}  // namespace berth::scheduling
