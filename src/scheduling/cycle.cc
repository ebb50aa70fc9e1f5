// SPDX-License-Identifier: Apache-2.0
#include "scheduling/cycle.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "base/check.h"
#include "scheduling/place.h"
#include "scheduling/queue_order.h"
#include "scheduling/quota_gate.h"
#include "scheduling/reclaim.h"
#include "scheduling/victims.h"

namespace berth::scheduling {
namespace {

using cluster::Cluster;
using cluster::Hold;
using cluster::Job;
using model::Plan;
using model::Rule;
using model::TaskPlacement;

void wake_at(Plan& plan, TimePoint time) {
    plan.next_wakeup = std::min(plan.next_wakeup.value_or(time), time);
}

// Whether one promised task could run this moment beside those who use the node or still leave it.
bool could_run(const Cluster& cluster, const TaskPlacement& task) {
    const cluster::NodeState& node = cluster.nodes()[task.node.index()];
    for (std::uint64_t mask = task.gpu_mask; mask != 0; mask &= mask - 1) {
        if (!cluster.could_use(task.node, std::countr_zero(mask), task.share)) return false;
    }
    const auto is_free = [](const cluster::HostUse& host, std::int64_t amount) {
        return host.capacity == cluster::kUnaccounted ||
               host.used + host.releasing + amount <= host.capacity;
    };
    return node.is_ready && is_free(node.cpu, task.cpu.value) &&
           is_free(node.memory, task.memory.value);
}

// Whether the GPUs promised to the job have all been left by their holders: then, and only then,
// taking the promise as used keeps every GPU within its bounds. Its tasks may share a GPU, so each
// is asked with those before it in place.
bool is_ripe(Cluster& cluster, JobId id) {
    const cluster::Trial trial(cluster);
    const std::vector<TaskPlacement> tasks = cluster.job(id).hold->tasks;
    cluster.drop_hold(id);
    return std::ranges::all_of(tasks, [&](const TaskPlacement& task) {
        if (!could_run(cluster, task)) return false;
        cluster.take(View::Idle, task);
        return true;
    });
}

// Stage 1: holds that are ripe start; holds that ran out, or whose node is gone, are dropped.
void honour_holds(Cluster& cluster, TimePoint now, Plan& plan) {
    std::vector<JobId> holders;
    for (const JobId id : cluster.holders()) holders.push_back(id);
    for (const JobId id : holders) {
        const Job& job = cluster.job(id);
        if (is_ripe(cluster, id)) {
            plan.starts.push_back({id, Rule::Hold, job.hold->tasks});
            cluster.honour_hold(id);
            continue;
        }
        const bool is_broken = std::ranges::any_of(job.hold->tasks, [&](const auto& task) {
            return !cluster.nodes()[task.node.index()].is_ready;
        });
        if (is_broken || job.hold->deadline <= now) {
            cluster.drop_hold(id);
            plan.dropped.push_back(id);
        } else {
            wake_at(plan, job.hold->deadline);
        }
    }
}

class Stages {
  public:
    Stages(const PoolView& view, Plan& plan) : view_(view), plan_(plan) {
        for (std::size_t i = 0; i < plan.starts.size(); ++i) start_of_[plan.starts[i].job] = i;
    }

    // Stage 2: idle GPUs, or GPUs that are being freed and not promised, to the next in order.
    void allocate() {
        QueueOrder order(view_);
        while (const auto next = order.next()) {
            if (allocate(*next)) {
                order.changed(next->project);
            } else {
                order.close(*next);
            }
        }
    }

    // Stages 3 and 4.
    void evict(Rule rule) {
        QueueOrder order(view_);
        while (const auto next = order.next()) {
            const std::vector<ProjectId> changed = evict_for(*next, rule);
            for (const ProjectId project : changed) order.changed(project);
            if (changed.empty()) order.close(*next);
        }
    }

  private:
    bool allocate(const Candidate& candidate) {
        const Job& job = view_.cluster.job(candidate.job);
        const int tasks = candidate.lane.ask;
        if (quota_gate(view_, job, ask_gpus(view_, job, tasks))) return false;
        if (const auto places = place(view_, job, tasks, View::Idle)) {
            view_.cluster.place(job.id, view_.pool, *places);
            list_start(job, Rule::Allocate, *places);
            return true;
        }
        const auto& pool = view_.cluster.pool(view_.pool);
        if (pool.free_total[0] == pool.free_total[1]) return false;  // nobody is leaving
        if (const auto places = place(view_, job, tasks, View::Coming)) {
            reserve(job, Rule::Allocate, *places);
            return true;
        }
        return false;
    }

    // The projects whose jobs or holdings changed; none when nothing could be done.
    std::vector<ProjectId> evict_for(const Candidate& candidate, Rule rule) {
        const Job& job = view_.cluster.job(candidate.job);
        const Beneficiary beneficiary{job, candidate.lane.ask,
                                      ask_gpus(view_, job, candidate.lane.ask), rule};
        if (rule == Rule::Reclaim && !may_reclaim(view_, job, beneficiary.amount)) return {};
        const Eviction eviction = find_victims(view_, beneficiary);
        if (eviction.protected_until) wake_at(plan_, *eviction.protected_until);
        if (eviction.pieces.empty()) return {};
        std::vector<ProjectId> changed{candidate.project};
        for (const Piece& piece : eviction.pieces) {
            pause(piece, rule, job.id);
            if (changed.back() != piece.project) changed.push_back(piece.project);
        }
        reserve(job, rule, eviction.places);
        return changed;
    }

    // A job that starts and grows in one decision is listed once.
    void list_start(const Job& job, Rule rule, const std::vector<TaskPlacement>& tasks) {
        const auto [known, is_new] = start_of_.try_emplace(job.id, plan_.starts.size());
        if (is_new) {
            plan_.starts.push_back({job.id, rule, tasks});
        } else {
            auto& listed = plan_.starts[known->second].tasks;
            listed.insert(listed.end(), tasks.begin(), tasks.end());
        }
    }

    void reserve(const Job& job, Rule rule, const std::vector<TaskPlacement>& tasks) {
        const TimePoint deadline = view_.now + view_.policy.pause_grace + view_.policy.hold;
        view_.cluster.hold(job.id, view_.pool, Hold{tasks, deadline, rule});
        if (is_ripe(view_.cluster, job.id)) {  // whoever made room had not started yet
            view_.cluster.honour_hold(job.id);
            list_start(job, rule, tasks);
            return;
        }
        plan_.reservations.push_back({job.id, rule, tasks});
        wake_at(plan_, deadline);
    }

    // What this very decision started has not run yet: it is taken out of the plan again. Returns
    // the ranks that do run.
    std::vector<int> withdraw(const Piece& piece) {
        std::vector<int> running = piece.ranks();
        const auto known = start_of_.find(piece.job);
        if (known == start_of_.end()) return running;
        std::vector<TaskPlacement>& starting = plan_.starts[known->second].tasks;
        std::erase_if(running, [&](int rank) {
            return std::erase_if(starting, [&](const auto& task) { return task.task == rank; }) > 0;
        });
        return running;
    }

    // Pieces of one job come one after the other and make one pause.
    void pause(const Piece& piece, Rule rule, JobId beneficiary) {
        view_.cluster.release(piece.job, piece.ranks());
        const std::vector<int> ranks = withdraw(piece);
        if (ranks.empty()) return;
        const bool is_known = !plan_.pauses.empty() && plan_.pauses.back().job == piece.job &&
                              plan_.pauses.back().beneficiary == beneficiary;
        if (!is_known) {
            plan_.pauses.push_back(
                {piece.job, ranks, piece.takes_whole_job, rule, beneficiary, piece.cost});
            return;
        }
        model::Pause& known = plan_.pauses.back();
        known.tasks.insert(known.tasks.end(), ranks.begin(), ranks.end());
        known.whole_job |= piece.takes_whole_job;
        known.cost.unsaved_gpu_ms += piece.cost.unsaved_gpu_ms;
        known.cost.restart_gpu_ms += piece.cost.restart_gpu_ms;
    }

    const PoolView& view_;
    Plan& plan_;
    std::unordered_map<JobId, std::size_t> start_of_;  // position in plan_.starts
};

}  // namespace

Plan decide(Cluster& cluster, const model::Policy& policy, TimePoint now) {
    const cluster::Trial trial(cluster);
    Plan plan;
    honour_holds(cluster, now, plan);
    for (std::size_t i = 0; i < cluster.pools().size(); ++i) {
        const base::PoolId pool{static_cast<base::PoolId::Rep>(i)};
        const PoolView view = view_pool(cluster, policy, now, pool);
        Stages stages(view, plan);
        stages.allocate();
        stages.evict(Rule::Reclaim);
        stages.evict(Rule::Preempt);
    }
    std::erase_if(plan.starts, [](const model::Start& start) { return start.tasks.empty(); });
    return plan;
}

}  // namespace berth::scheduling
