// SPDX-License-Identifier: Apache-2.0
#include "scheduling/explain/served_first.h"

#include <algorithm>
#include <utility>

#include "scheduling/order/job_order.h"
#include "scheduling/rights/minimum_run.h"

namespace berth::scheduling {
namespace {

using cluster::Cluster;
using cluster::Job;
using model::Cause;
using model::Plan;
using model::Verdict;

// Whether it stood before the other in the order of their project when it was served.
bool was_ahead(const Cluster& cluster, const Served& served, const Job& other) {
    const Job& job = cluster.job(served.job);
    if (job.project != other.project) return false;
    ClassHead head{{}, job.created, job.id};
    head.job_class.priority_key = {job.priority, served.grows ? ordering::kLastRank : job.rank};
    head.job_class.gang_phase = served.grows ? 1 : 0;
    return is_before(head, class_head_of(other));
}

}  // namespace

std::vector<Served> served_in(const PoolView& view, const Plan& plan) {
    std::vector<Served> served;
    const auto add = [&](JobId job, std::span<const model::TaskPlacement> tasks, bool are_placed) {
        const NodeId node = tasks.front().node;
        if (view.cluster.nodes()[node.index()].pool != view.pool) return;
        const Job& state = view.cluster.job(job);
        const std::size_t before = state.placed.size() - (are_placed ? tasks.size() : 0);
        served.push_back({job, std::cmp_greater_equal(before, state.tasks_min)});
    };
    for (const model::Start& start : plan.starts) add(start.job, start.tasks, true);
    for (const model::Reservation& in_use : plan.reservations) add(in_use.job, in_use.tasks, false);
    return served;
}

bool tell_who_was_first(Verdict& verdict, const PoolView& view, const Job& job,
                        std::span<const Served> served) {
    const auto is_ahead = [&](const Served& other) { return was_ahead(view.cluster, other, job); };
    if (std::ranges::any_of(served, is_ahead)) {
        verdict.because(Cause::AheadInQueue);
        return true;
    }
    for (const auto& [id, grows] : served) {
        const ProjectId other = view.cluster.job(id).project;
        if (other == job.project) continue;
        const ProjectId at = parting(view, job.project, other);
        verdict.because(Cause::BehindProjects);
        verdict.scope = view.cluster.projects()[at.index()].project.name;
        verdict.used = view.allocated(at);
        verdict.bound = view.shares.fair[at.index()];
        return true;
    }
    return false;
}

}  // namespace berth::scheduling
