// SPDX-License-Identifier: Apache-2.0
#include "scheduling/cycle.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

#include "base/check.h"
#include "scheduling/freeable.h"
#include "scheduling/minimum_run.h"
#include "scheduling/place.h"
#include "scheduling/preemption_delay.h"
#include "scheduling/queue_order.h"
#include "scheduling/quota_gate.h"
#include "scheduling/reclaim.h"
#include "scheduling/stale_gangs.h"
#include "scheduling/victims.h"
#include "scheduling/waste_budget.h"

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

// Whether everything promised to the job has been left by its holders: then, and only then, taking
// the promise as used keeps every GPU within its bounds. Tasks of one job may share a GPU, and they
// share the CPU and memory of their node, so they are asked about together.
bool is_ripe(const Cluster& cluster, const Job& job) {
    std::map<std::pair<NodeId, int>, base::MilliGpu> gpus;
    std::map<NodeId, std::pair<std::int64_t, std::int64_t>> hosts;  // CPU, memory
    for (const TaskPlacement& task : job.hold->tasks) {
        for (std::uint64_t mask = task.gpu_mask; mask != 0; mask &= mask - 1) {
            gpus[{task.node, std::countr_zero(mask)}] += task.share;
        }
        hosts[task.node].first += task.cpu.value;
        hosts[task.node].second += task.memory.value;
    }
    const auto is_free = [](const cluster::HostUse& host, std::int64_t amount) {
        return host.capacity == cluster::kUnaccounted ||
               host.used + host.releasing + amount <= host.capacity;
    };
    return std::ranges::all_of(gpus,
                               [&](const auto& part) {
                                   const auto [node, gpu] = part.first;
                                   return cluster.could_use(node, gpu, part.second);
                               }) &&
           std::ranges::all_of(hosts, [&](const auto& part) {
               const cluster::NodeState& node = cluster.nodes()[part.first.index()];
               return node.is_ready && is_free(node.cpu, part.second.first) &&
                      is_free(node.memory, part.second.second);
           });
}

// Somebody whose right is stronger than that of a job before it in the order.
struct Claimant {
    JobId job;
    base::PoolId pool;
    Rule rule = Rule::Reclaim;
};
// By the job that is to let them pass.
using Conflicts = std::map<JobId, std::vector<Claimant>>;

// One try at a whole decision, made on the cluster inside the caller's Trial.
class Attempt {
  public:
    // Whoever had to leave what it was just given lets the claimants of `known` pass; see decide().
    Attempt(Cluster& cluster, const model::Policy& policy, TimePoint now, Memory& memory,
            const Conflicts& known, bool is_last)
        : cluster_(cluster), now_(now), memory_(memory), known_(known), is_last_(is_last) {
        honour_holds();
        for (std::size_t i = 0; i < cluster.pools().size(); ++i) {
            views_.push_back(view_pool(cluster, policy, now, {static_cast<base::PoolId::Rep>(i)}));
            for (const cluster::Claim& claim : cluster.pools()[i].claims) {
                for (const auto& [key, lane] : claim.lanes) {
                    last_preference_ = std::max(last_preference_, key.preference);
                }
            }
        }
        searches_.resize(views_.size());
        for (const auto& [id, claimants] : known) {
            const Job& job = cluster.job(id);
            passing_.emplace_back(job.project, job.shape);
        }
    }

    // Idle GPUs of every pool a job would take come before anybody is paused for it in one.
    void run() {
        do {
            is_deferred_ = has_started_ = false;
            for (PoolView& view : views_) allocate(view);
        } while (is_deferred_ && has_started_);
        for (int preference = 0; preference <= last_preference_; ++preference) {
            for (PoolView& view : views_) {
                evict(view, Rule::Reclaim, preference);
                evict(view, Rule::Preempt, preference);
            }
        }
        pause_stale_gangs();
    }

    Plan take_plan() {
        for (const PoolView& view : views_) {
            const auto& found = view.shares.overcommitted;
            plan_.overcommitted.insert(plan_.overcommitted.end(), found.begin(), found.end());
        }
        return std::move(plan_);
    }
    const Conflicts& conflicts() const { return conflicts_; }

  private:
    // Stage 1: holds that are ripe start; holds that ran out, or whose node is gone, are dropped.
    void honour_holds() {
        const std::set<JobId> holders = cluster_.holders();
        for (const JobId id : holders) {
            const Job& job = cluster_.job(id);
            const bool is_broken = std::ranges::any_of(job.hold->tasks, [&](const auto& task) {
                return !cluster_.nodes()[task.node.index()].is_ready;
            });
            if (known_.contains(id)) {
                drop_hold(id);
            } else if (is_ripe(cluster_, job)) {
                const base::PoolId pool = job.pool;
                const std::vector<TaskPlacement> tasks = job.hold->tasks;
                cluster_.drop_hold(id);
                cluster_.place(id, pool, tasks);
                add_start(id, Rule::Hold, tasks);
            } else if (is_broken || job.hold->deadline <= now_) {
                drop_hold(id);
            } else {
                wake_at(plan_, job.hold->deadline);
            }
        }
    }

    void drop_hold(JobId id) {
        cluster_.drop_hold(id);
        plan_.dropped.push_back(id);
    }

    // Stage 2: idle GPUs, or GPUs that are being freed and not promised, to the next in order.
    void allocate(PoolView& view) {
        QueueOrder order(view, memory_.queue(view.pool),
                         [&](ProjectId project, const cluster::LaneKey& lane) {
                             return !is_out_of_reach(view, lane.shape, lane.ask, View::Coming) &&
                                    is_due(view, lane) &&
                                    (is_turn_of_others(project, lane) ||
                                     !is_in_too_small_parts(view, lane.shape, View::Coming));
                         });
        while (const auto next = order.next()) {
            if (let_pass(view, next->job, order)) continue;
            const Job& job = cluster_.job(next->job);
            const bool waits_for_better = next->lane.preference > 0 && fits_earlier(view, job);
            is_deferred_ |= waits_for_better;
            if (!waits_for_better && allocate(view, job)) {
                order.changed(next->project);
            } else {
                order.close(*next);
            }
        }
    }

    bool allocate(PoolView& view, const Job& job) {
        if (quota_gate(view, job, ask_gpus(view, job, job.ask()))) return false;
        if (const auto places = place(view, job, job.ask(), View::Idle)) {
            if (job.active == 0) view.fresh.insert(job.id);
            cluster_.place(job.id, view.pool, *places);
            add_start(job.id, Rule::Allocate, *places);
            return true;
        }
        const auto& pool = cluster_.pool(view.pool);
        const bool somebody_leaves = pool.free_total[0] != pool.free_total[1];
        return somebody_leaves && reserve_coming(view, job);
    }

    // Whether a job that has to stop for more GPUs has run long enough to be worth it.
    bool is_due(const PoolView& view, const cluster::LaneKey& lane) {
        if (!lane.alone.is_valid()) return true;
        const Job& job = cluster_.job(lane.alone);
        const TimePoint due = protected_until(view, job, Rule::Preempt, job.project);
        if (due > now_) wake_at(plan_, due);
        return due <= now_;
    }

    // Serves those who would only take away again what the job is about to be given. Returns
    // whether anybody was served, so that the order has to be asked again.
    bool let_pass(PoolView& view, JobId turn, QueueOrder& order) {
        const auto waiting = known_.find(turn);
        if (waiting == known_.end() || !has_let_pass_.insert({turn, view.pool}).second)
            return false;
        bool has_served = false;
        for (const Claimant& claimant : waiting->second) {
            const Job& job = cluster_.job(claimant.job);
            if (claimant.pool != view.pool) continue;
            has_served |= let_pass(view, job.id, order);  // who is stronger than the claimant
            if (!job.is_waiting()) continue;
            if (allocate(view, job)) {
                order.changed(job.project);
                has_served = true;
            } else if (evict_for(view, job, claimant.rule, order)) {
                has_served = true;
            }
        }
        return has_served;
    }

    // Whether a pool that the job names before this one has room for it now. Should others take
    // that room first, the job is looked at here again.
    bool fits_earlier(const PoolView& here, const Job& job) const {
        for (const base::PoolId pool : cluster_.pools_of(job)) {
            if (pool == here.pool) return false;
            const PoolView& view = views_[pool.index()];
            const bool may = !quota_gate(view, job, ask_gpus(view, job, job.ask()));
            if (may && place(view, job, job.ask(), View::Idle)) return true;
        }
        return false;
    }

    // GPUs that somebody leaves anyway.
    bool reserve_coming(const PoolView& view, const Job& job) {
        if (quota_gate(view, job, ask_gpus(view, job, job.ask()))) return false;
        const auto places = place(view, job, job.ask(), View::Coming);
        if (!places) return false;
        reserve(view, job, Rule::Allocate, *places);
        return true;
    }

    // Stages 3 and 4, for the jobs that name this pool at the given place of their lists.
    void evict(PoolView& view, Rule rule, int preference) {
        Freeable freeable(view);
        QueueOrder order(
            view, memory_.queue(view.pool), [&](ProjectId project, const cluster::LaneKey& lane) {
                return lane.preference == preference &&
                       (may_find_leavings(view, lane) || may_evict(view, project, lane, rule)) &&
                       is_due(view, lane) &&
                       (is_turn_of_others(project, lane) || may_fit_by_now(view, lane) ||
                        is_worth_a_search(freeable, view, project, lane, rule));
            });
        while (const auto next = order.next()) {
            if (let_pass(view, next->job, order)) {
                freeable.forget();
                continue;
            }
            const Job& job = cluster_.job(next->job);
            if (evict_for(view, job, rule, order)) {
                freeable.forget();
                continue;
            }
            if (is_delayed_alone(view, job)) {
                order.pass_over(*next);
            } else {
                order.close(*next);
            }
        }
    }

    // Whether GPUs that somebody leaves anyway could do.
    static bool may_find_leavings(const PoolView& view, const cluster::LaneKey& lane) {
        const auto& pool = view.cluster.pool(view.pool);
        return pool.free_total[0] != pool.free_total[1] &&
               !is_out_of_reach(view, lane.shape, lane.ask, View::Coming);
    }

    // Whether jobs of the lane have a right to anybody's GPUs.
    static bool may_evict(const PoolView& view, ProjectId project, const cluster::LaneKey& lane,
                          Rule rule) {
        const MilliGpu amount = view.cluster.demand(lane.shape, view.pool) * lane.ask;
        if (rule == Rule::Reclaim) return may_reclaim(view, project, lane.preemptible, amount);
        const auto& victims = view.claim(project).victims;
        return !victims.empty() && victims.begin()->priority < lane.priority;
    }

    // Whether somebody may be served when the lane's turn comes, whatever becomes of its own jobs.
    bool is_turn_of_others(ProjectId project, const cluster::LaneKey& lane) const {
        const auto found = std::ranges::find(passing_, std::pair(project, lane.shape));
        return found != passing_.end();
    }

    // Whether what an earlier pause left over could do.
    bool may_fit_by_now(const PoolView& view, const cluster::LaneKey& lane) const {
        return !plan_.pauses.empty() &&
               !is_out_of_reach(view, lane.shape, lane.ask, View::Coming) &&
               !is_in_too_small_parts(view, lane.shape, View::Coming);
    }

    // Whether a search for victims could find any, as far as sums tell.
    bool is_worth_a_search(Freeable& freeable, const PoolView& view, ProjectId project,
                           const cluster::LaneKey& lane, Rule rule) const {
        if (!may_evict(view, project, lane, rule)) return false;
        const MilliGpu amount = view.cluster.demand(lane.shape, view.pool) * lane.ask;
        if (!lane.preemptible && is_above_own_quota(view, project, amount)) return false;
        return rule != Rule::Reclaim ||
               freeable.is_possible(project, amount, counting_of(view, lane.shape));
    }

    bool evict_for(PoolView& view, const Job& job, Rule rule, QueueOrder& order) {
        const Beneficiary beneficiary{job, job.ask(), ask_gpus(view, job, job.ask()), rule};
        // What an earlier pause of this plan left over, of GPUs, of the CPU beside them or under a
        // limit, is nobody's loss.
        if (!plan_.pauses.empty() && reserve_coming(view, job)) {
            order.changed(job.project);
            return true;
        }
        const bool may_take = rule == Rule::Preempt ||
                              may_reclaim(view, job.project, job.preemptible, beneficiary.amount);
        if (!may_take || must_wait(view, beneficiary)) return false;
        VictimSearch& search = search_in(view);
        const Eviction eviction = search.find(beneficiary);
        if (eviction.protected_until) wake_at(plan_, *eviction.protected_until);
        if (eviction.pieces.empty() || takes_from_winners(view, beneficiary, search, eviction)) {
            return false;
        }
        std::set<ProjectId> changed{job.project};
        for (const std::size_t piece : eviction.pieces) {
            pause(view, search.piece(piece), beneficiary, search);
            search.take(piece);
            changed.insert(search.piece(piece).project);
        }
        reserve(view, job, rule, eviction.places);
        for (const ProjectId project : changed) order.changed(project);
        return true;
    }

    // Whether nobody may be paused for it yet, whatever its rights.
    bool must_wait(const PoolView& view, const Beneficiary& beneficiary) {
        std::optional<TimePoint> until = delayed_until(view, beneficiary.job);
        const bool is_spent = is_waste_spent(view, view.wasted_gpu_ms);
        if (!until && is_spent && is_wasteful(view, beneficiary)) until = waste_renewal(now_);
        if (until) wake_at(plan_, *until);
        return until.has_value();
    }

    VictimSearch& search_in(const PoolView& view) {
        std::optional<VictimSearch>& search = searches_[view.pool.index()];
        if (!search) search.emplace(view, memory_.pieces(view.pool));
        return *search;
    }

    // Nobody both gains and loses in one plan: who would lets the other pass in the next attempt,
    // or, in the last one, is left alone.
    bool takes_from_winners(const PoolView& view, const Beneficiary& beneficiary,
                            const VictimSearch& search, const Eviction& eviction) {
        std::set<JobId> found;
        for (const std::size_t piece : eviction.pieces) {
            const JobId job = search.piece(piece).job;
            if (!winners_.contains(job) || !found.insert(job).second) continue;
            conflicts_[job].push_back({beneficiary.job.id, view.pool, beneficiary.rule});
        }
        return !found.empty() && is_last_;
    }

    // Stage 5: after all that could have made them whole.
    void pause_stale_gangs() {
        StaleGangs found = stale_gangs(cluster_, views_.front().policy, now_);
        if (found.next) wake_at(plan_, *found.next);
        for (model::Pause& pause : found.pauses) {
            cluster_.release(pause.job, pause.tasks);
            plan_.pauses.push_back(std::move(pause));
        }
    }

    void add_start(JobId job, Rule rule, const std::vector<TaskPlacement>& tasks) {
        has_started_ = true;
        winners_.insert(job);
        const auto [position, is_new] = start_of_.try_emplace({job, rule}, plan_.starts.size());
        if (is_new) {
            plan_.starts.push_back({job, rule, tasks});
            return;
        }
        std::vector<TaskPlacement>& known = plan_.starts[position->second].tasks;
        known.insert(known.end(), tasks.begin(), tasks.end());
    }

    void reserve(const PoolView& view, const Job& job, Rule rule,
                 const std::vector<TaskPlacement>& tasks) {
        const TimePoint deadline = now_ + view.policy.pause_grace + view.policy.hold;
        winners_.insert(job.id);
        cluster_.hold(job.id, view.pool, Hold{tasks, deadline, rule});
        plan_.reservations.push_back({job.id, rule, tasks});
        wake_at(plan_, deadline);
    }

    void pause(PoolView& view, const Piece& piece, const Beneficiary& beneficiary,
               VictimSearch& search) {
        // What it was promised by an earlier plan is void: nobody grows while asked to leave.
        if (const auto& hold = cluster_.job(piece.job).hold) {
            for (const TaskPlacement& task : hold->tasks) search.freed(task.node);
            drop_hold(piece.job);
        }
        const bool wasteful = is_wasteful(view, beneficiary);
        if (wasteful) view.wasted_gpu_ms += piece.cost.unsaved_gpu_ms;
        cluster_.release(piece.job, piece.ranks);
        const std::vector<int> ranks(piece.ranks.begin(), piece.ranks.end());
        if (plan_.pauses.empty() || plan_.pauses.back().job != piece.job ||
            plan_.pauses.back().beneficiary != beneficiary.job.id) {
            plan_.pauses.push_back({piece.job, ranks, piece.takes_whole_job, beneficiary.rule,
                                    beneficiary.job.id, piece.cost, wasteful});
            return;
        }
        model::Pause& known = plan_.pauses.back();
        known.tasks.insert(known.tasks.end(), ranks.begin(), ranks.end());
        known.whole_job |= piece.takes_whole_job;
        known.cost.unsaved_gpu_ms += piece.cost.unsaved_gpu_ms;
        known.cost.restart_gpu_ms += piece.cost.restart_gpu_ms;
    }

    Cluster& cluster_;
    TimePoint now_;
    Memory& memory_;
    const Conflicts& known_;
    std::vector<std::pair<ProjectId, ShapeId>> passing_;  // where the jobs of `known` may stand
    bool is_last_;
    std::vector<PoolView> views_;
    std::vector<std::optional<VictimSearch>> searches_;  // by pool
    Plan plan_;
    std::map<std::pair<JobId, Rule>, std::size_t> start_of_;  // position in plan_.starts
    std::set<JobId> winners_;  // given something in this plan
    std::set<std::pair<JobId, base::PoolId>> has_let_pass_;
    Conflicts conflicts_;
    bool is_deferred_ = false;  // a job waits for a pool it likes better
    bool has_started_ = false;
    int last_preference_ = 0;
};

// Each further attempt costs a whole decision; one is the rule, two are seen, more are rare.
constexpr int kAttemptsMax = 4;

}  // namespace

// A job that takes idle GPUs in stage 2 can turn out to be in the way of an owner in stage 3.
// Starting it to pause it at once would be a waste, so the decision is made again, the owner being
// served just before the job in its way, which may then find another place.
Plan decide(Cluster& cluster, const model::Policy& policy, TimePoint now, Memory& memory) {
    Conflicts known;
    for (int count = 1;; ++count) {
        const cluster::Trial trial(cluster);
        Attempt attempt(cluster, policy, now, memory, known, count == kAttemptsMax);
        attempt.run();
        if (attempt.conflicts().empty() || count == kAttemptsMax) return attempt.take_plan();
        for (const auto& [job, claimants] : attempt.conflicts()) {
            auto& passing = known[job];
            passing.insert(passing.end(), claimants.begin(), claimants.end());
        }
    }
}

Plan decide(Cluster& cluster, const model::Policy& policy, TimePoint now) {
    Memory memory;
    return decide(cluster, policy, now, memory);
}

}  // namespace berth::scheduling
