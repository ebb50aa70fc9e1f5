// SPDX-License-Identifier: Apache-2.0
#include "scheduling/explain/blocking_jobs.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "scheduling/place/place.h"

namespace berth::scheduling {
namespace {

using cluster::Cluster;
using cluster::Job;
using model::Cause;
using model::Reason;

constexpr std::size_t kJobsMax = 16;
constexpr std::size_t kNodesLookedAt = 64;

bool is_below(const Cluster& cluster, ProjectId project, ProjectId top) {
    for (ProjectId at = project; at.is_valid(); at = cluster.projects()[at.index()].parent) {
        if (at == top) return true;
    }
    return false;
}

// Those whose going leaves `bound` for what is asked.
std::vector<JobId> users_of(const Cluster& cluster, base::PoolId pool,
                            const model::Verdict& verdict) {
    const ProjectId top = cluster.find_project(verdict.scope);
    const MilliGpu excess = verdict.used + verdict.asks - verdict.bound;
    std::vector<std::pair<MilliGpu, JobId>> users;
    for (const auto& [id, job] : cluster.jobs()) {
        if (job.active == 0 || job.pool != pool || !is_below(cluster, job.project, top)) continue;
        if (verdict.cause == Cause::NonPreemptibleQuotaReached && job.preemptible) continue;
        users.emplace_back(job.in_use(Job::Leaving::Ignored), id);
    }
    std::ranges::sort(users);
    const auto enough =
        std::ranges::find_if(users, [&](const auto& user) { return user.first >= excess; });
    if (enough != users.end()) return {enough->second};
    std::vector<JobId> chosen;
    MilliGpu freed{0};
    for (; !users.empty() && freed < excess; users.pop_back()) {
        freed += users.back().first;
        chosen.push_back(users.back().second);
    }
    if (freed < excess) chosen.clear();
    return chosen;
}

// Makes room on a copy, node by node, in the view of what will be free.
class RoomMaker {
  public:
    RoomMaker(Cluster& cluster, const model::Policy& policy, TimePoint now, const Job& job,
              base::PoolId pool)
        : view_(view_pool(cluster, policy, now, pool)), job_(job) {
        std::map<NodeId, std::map<JobId, int>> standing;
        for (const auto& [id, other] : cluster.jobs()) {
            for (const auto& task : other.placed) {
                const bool counts = !task.is_releasing && other.pool == pool;
                if (counts) standing[task.place.node][id] += std::popcount(task.place.gpu_mask);
            }
        }
        std::vector<std::tuple<int, NodeId>> nodes;  // those with the most idle GPUs first
        for (const auto& [node, jobs] : standing) {
            const cluster::NodeState& state = cluster.nodes()[node.index()];
            if (!state.is_ready || !cluster.allows(job.shape, state.kind)) continue;
            nodes.emplace_back(-state.free_gpus(View::Idle), node);
        }
        std::ranges::sort(nodes);
        if (nodes.size() > kNodesLookedAt) nodes.resize(kNodesLookedAt);
        for (const auto& [idle, node] : nodes) {
            Site site{node, {}};
            for (const auto& [id, gpus] : standing[node]) site.jobs.push_back({-gpus, id});
            std::ranges::sort(site.jobs);
            sites_.push_back(std::move(site));
        }
    }

    std::vector<JobId> run() {
        const cluster::Trial trial(view_.cluster);
        std::vector<JobId> chosen;
        while (!place(view_, job_, job_.ask(), View::Coming)) {
            const std::vector<JobId> next = cheapest_step();
            if (next.empty() || chosen.size() + next.size() > kJobsMax) return {};
            for (const JobId id : next) release(id);
            chosen.insert(chosen.end(), next.begin(), next.end());
        }
        return chosen;
    }

  private:
    struct Site {
        NodeId node;
        std::vector<std::pair<int, JobId>> jobs;  // those with the most GPUs here first
    };

    void release(JobId id) {
        std::vector<int> ranks;
        for (const auto& task : view_.cluster.job(id).placed) ranks.push_back(task.place.task);
        view_.cluster.release(id, ranks);
    }

    int slots_on(NodeId node) {
        const cluster::Trial trial(view_.cluster);
        int slots = 0;
        for (; slots < job_.ask(); ++slots) {
            const auto found = place_on(view_, job_.shape, node, View::Coming);
            if (!found) break;
            view_.cluster.take(View::Coming, job_.shape, *found);
        }
        return slots;
    }

    // Whose going gives a node room for one task more than it has, by the fewest jobs, then GPUs.
    std::vector<JobId> cheapest_step() {
        std::vector<JobId> best;
        MilliGpu best_gpus{0};
        for (const Site& site : sites_) {
            const cluster::Trial trial(view_.cluster);
            const int before = slots_on(site.node);
            std::vector<JobId> going;
            MilliGpu gpus{0};
            for (const auto& [in_use, id] : site.jobs) {
                if (!view_.cluster.job(id).active || id == job_.id) continue;
                gpus += view_.cluster.job(id).in_use(Job::Leaving::Ignored);
                going.push_back(id);
                release(id);
                if (slots_on(site.node) > before) break;
            }
            if (going.empty() || slots_on(site.node) <= before) continue;
            const bool is_better = best.empty() || going.size() < best.size() ||
                                   (going.size() == best.size() && gpus < best_gpus);
            if (!is_better) continue;
            best = going;
            best_gpus = gpus;
        }
        return best;
    }

    PoolView view_;
    const Job& job_;
    std::vector<Site> sites_;
};

}  // namespace

std::vector<JobId> blocking_jobs(const Cluster& cluster, const model::Policy& policy, TimePoint now,
                                 const model::Verdict& verdict) {
    const Job& job = cluster.job(verdict.job);
    const base::PoolId pool = cluster.pools_of(job).front();
    if (verdict.reason == Reason::QuotaHard) return users_of(cluster, pool, verdict);
    if (verdict.reason == Reason::PriorityAhead || verdict.reason == Reason::Reserved) {
        return verdict.blockers;
    }
    Cluster copy = cluster;
    return RoomMaker(copy, policy, now, copy.job(verdict.job), pool).run();
}

}  // namespace berth::scheduling
