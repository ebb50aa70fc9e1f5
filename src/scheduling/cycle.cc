// SPDX-License-Identifier: Apache-2.0
#include "scheduling/cycle.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <tuple>

#include "scheduling/bookings.h"
#include "scheduling/conflicts.h"
#include "scheduling/contest.h"
#include "scheduling/freeable.h"
#include "scheduling/minimum_run.h"
#include "scheduling/moves.h"
#include "scheduling/node_moves.h"
#include "scheduling/place.h"
#include "scheduling/plan_draft.h"
#include "scheduling/preemption_delay.h"
#include "scheduling/promises.h"
#include "scheduling/queue_order.h"
#include "scheduling/quota_gate.h"
#include "scheduling/reclaim.h"
#include "scheduling/refusals.h"
#include "scheduling/rehouse.h"
#include "scheduling/stale_gangs.h"
#include "scheduling/victims.h"
#include "scheduling/waste_budget.h"

namespace berth::scheduling {
namespace {

using cluster::Cluster;
using cluster::Job;
using model::Plan;
using model::Rule;
using model::TaskPlacement;

// Whether work that leaves frees anything that is promised to nobody: GPUs, of a shared one perhaps
// what is no share of both compute and memory; or CPU, memory and other resources of any node, for
// companions stand in other pools too.
bool something_is_being_left(const Cluster& cluster, base::PoolId of) {
    const cluster::PoolState& pool = cluster.pool(of);
    return pool.free_total[0] != pool.free_total[1] ||
           pool.free[0].in_parts() != pool.free[1].in_parts() ||
           cluster.resources().are_being_left() ||
           std::ranges::any_of(cluster.pools(), [](const cluster::PoolState& any) {
               return any.hosts_being_left > 0;
           });
}

// Moves are searched for so many waiting jobs in one decision: those that come first in the order.
constexpr int kMoveSearchesMax = 32;

constexpr std::size_t kNotYet = SIZE_MAX;
constexpr std::size_t kPools = 4;  // more of them need memory of their own

// One try at a whole decision, made on the cluster inside the caller's Trial.
class Attempt {
  public:
    // Whoever had to leave what it was just given lets the contenders of `known` pass; see
    // decide(). What is booked already is not booked anew.
    Attempt(Cluster& cluster, const model::Policy& policy, TimePoint now, Memory& memory,
            const Conflicts& known, bool are_booked, bool is_last)
        : cluster_(cluster),
          draft_(cluster, policy, now, memory.nodes()),
          memory_(memory),
          known_(known),
          fresh_(memory.nodes()),
          has_let_pass_(memory.nodes()),
          conflicts_(memory.nodes()),
          refused_(memory.nodes()),
          spares_winners_(is_last) {
        memory.promises().honour(draft_, [&](JobId job) { return known.contains(job); });
        for (std::size_t i = 0; i < cluster.pools().size(); ++i) {
            const base::PoolId pool{static_cast<base::PoolId::Rep>(i)};
            views_.push_back(
                view_pool(cluster, policy, now, pool, std::move(memory.pool(pool).shares)));
            views_.back().fresh = &fresh_;
            views_.back().honoured = &draft_.honoured();
            if (is_last) views_.back().spared = &draft_.winners();
            if (cluster.pools().size() == 1) break;  // there is nothing to prefer
            for (const cluster::Claim& claim : cluster.pools()[i].claims) {
                for (const auto& [key, lane] : claim.lanes) {
                    last_preference_ = std::max(last_preference_, key.preference);
                }
            }
        }
        searched_at_.resize(views_.size(), kNotYet);
        for (const auto& [id, contenders] : known) {
            const Job& job = cluster.job(id);
            passing_.emplace_back(job.project, job.shape);
        }
        for (const PoolView& view : views_) {
            Bookings& bookings = bookings_of(view);
            are_booked ? bookings.keep_again(view) : bookings.book(view, memory.node_seats());
            if (const auto change = bookings.next_change()) draft_.wake_at(*change);
        }
    }
    ~Attempt() {
        for (PoolView& view : views_) memory_.pool(view.pool).shares = std::move(view.shares);
    }
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;

    // Idle GPUs of every pool a job would take come before anybody is paused for it in one.
    void run() {
        do {
            is_deferred_ = has_started_ = false;
            for (PoolView& view : views_) allocate(view);
        } while (is_deferred_ && has_started_);
        for (PoolView& view : views_) consolidate(view);
        for (int preference = 0; preference <= last_preference_; ++preference) {
            for (PoolView& view : views_) {
                evict(view, Rule::Reclaim, preference);
                evict(view, Rule::Preempt, preference);
            }
        }
        for (const PoolView& view : views_) rehouse(draft_, view, memory_.nodes());
        pause_stale_gangs();
    }

    Plan take_plan() {
        wake_at_rank_changes();
        if (may_leave_more_to_decide()) draft_.wake_at(draft_.now());
        Plan plan = draft_.take_plan();
        for (const PoolView& view : views_) {
            std::ranges::copy(view.shares.overcommitted, std::back_inserter(plan.overcommitted));
            plan.bookings = bookings_of(view).still_waiting(std::move(plan.bookings));
        }
        return plan;
    }
    const Conflicts& conflicts() const { return conflicts_; }

  private:
    // Stage 2: idle GPUs, or GPUs that are being freed and not promised, to the next in order.
    void allocate(PoolView& view) {
        const auto test = [&](ProjectId project, const LaneHead& head) {
            const cluster::LaneKey& lane = head.lane;
            return (!bookings_of(view).empty() ||
                    !is_out_of_reach(view, lane.shape, lane.ask, View::Coming)) &&
                   is_due(view, lane) &&
                   (is_turn_of_others(project, lane) || could_fit(view, head));
        };
        QueueOrder order(view, memory_.pool(view.pool).queue, std::cref(test));
        drop_for_contenders(view, order);
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

    // What was promised goes to those for whom it is dropped, before anybody else can take it.
    void drop_for_contenders(PoolView& view, QueueOrder& order) {
        for (const auto& [id, contenders] : known_) {
            const Job& job = cluster_.job(id);
            if (!job.hold || draft_.is_winner(id) || job.pool != view.pool) continue;
            draft_.drop_hold(id);
            order.changed(job.project);
            let_pass(view, id, order);
        }
    }

    bool allocate(PoolView& view, const Job& job) {
        const Bookings::Opening opening(bookings_of(view), job);
        if (!may_have(view, job)) return false;
        if (const auto places = place(view, job, job.ask(), View::Idle)) {
            if (job.active == 0) fresh_.insert(job.id);
            draft_.start(job.id, view.pool, Rule::Allocate, *places);
            has_started_ = true;
            return true;
        }
        return something_is_being_left(cluster_, view.pool) && reserve_coming(view, job);
    }

    // Whether nothing but room keeps the job from GPUs for which nobody has to leave.
    bool may_have(const PoolView& view, const Job& job) {
        if (job.ask() == 0) return true;  // companions alone
        return !bookings_of(view).keep_share_from(job) &&
               !quota_gate(view, job, ask_gpus(view, job, job.ask()));
    }

    // Whether a job that has to stop for more GPUs has run long enough to be worth it.
    bool is_due(const PoolView& view, const cluster::LaneKey& lane) {
        if (!lane.alone.is_valid()) return true;
        const Job& job = cluster_.job(lane.alone);
        if (!job.grows_by_restart()) return true;
        const TimePoint due = protected_until(view, job, Rule::Preempt, job.project);
        if (due > draft_.now()) draft_.wake_at(due);
        return due <= draft_.now();
    }

    // Serves those who would only take away again what the job is about to be given. Returns
    // whether anybody was served, so that the order has to be asked again.
    bool let_pass(PoolView& view, JobId turn, QueueOrder& order) {
        const auto waiting = known_.find(turn);
        if (waiting == known_.end() || !has_let_pass_.insert({turn, view.pool}).second)
            return false;
        bool has_served = false;
        for (const Contender& contender : waiting->second) {
            const Job& job = cluster_.job(contender.job);
            if (contender.pool != view.pool) continue;
            has_served |= let_pass(view, job.id, order);  // who is stronger than the contender
            if (!job.is_waiting()) continue;
            if (allocate(view, job)) {
                order.changed(job.project);
                has_served = true;
            } else if (evict_for(view, job, contender.rule, order)) {
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
        if (!may_have(view, job)) return false;
        const auto places = place(view, job, job.ask(), View::Coming);
        if (!places) return false;
        draft_.reserve(job.id, view.pool, Rule::Allocate, *places);
        return true;
    }

    // Stage 3: jobs move together for one that can be paused too, where GPUs enough idle apart.
    void consolidate(PoolView& view) {
        if (view.policy.moves_max == 0) return;
        const auto may_move = [&](const Job& mover) {
            spares_winners_ |= draft_.is_winner(mover.id);
            return !draft_.is_winner(mover.id);
        };
        Rearrangements search(view, may_move, memory_.nodes());
        const auto test = [&](ProjectId, const LaneHead& head) {
            const cluster::LaneKey& lane = head.lane;
            return lane.preemptible && lane.stage == 0 && has_enough_apart(view, lane);
        };
        QueueOrder order(view, memory_.pool(view.pool).queue, std::cref(test));
        while (const auto next = order.next()) {
            if (let_pass(view, next->job, order)) {
                search.forget();
            } else if (!draft_.frees_gpus() && searches_for_moves_ == kMoveSearchesMax) {
                break;
            } else if (consolidate_for(view, cluster_.job(next->job), search, order)) {
                search.forget();
            } else {
                order.close(*next);
            }
        }
    }

    bool has_enough_apart(const PoolView& view, const cluster::LaneKey& lane) {
        return is_enough_apart(view, lane.shape, lane.ask, View::Coming, bookings_of(view).kept());
    }

    bool consolidate_for(PoolView& view, const Job& job, Rearrangements& search,
                         QueueOrder& order) {
        const Bookings::Opening opening(bookings_of(view), job);
        if (!may_have(view, job)) return false;
        if (draft_.frees_gpus() && reserve_coming(view, job)) {  // what an earlier move left over
            order.changed(job.project);
            return true;
        }
        const bool is_apart = is_enough_apart(view, job.shape, job.ask(), View::Coming);
        if (!is_apart || searches_for_moves_ == kMoveSearchesMax) return false;
        ++searches_for_moves_;
        if (is_waste_spent(view, view.wasted_gpu_ms)) {
            draft_.wake_at(waste_renewal(draft_.now()));
            return false;
        }
        const bool is_opened = !opening.nodes().empty();  // for this job alone
        if (is_opened) search.forget();
        const Rearrangement found = search.find(job);
        if (is_opened) search.forget();
        if (found.worth_at) draft_.wake_at(*found.worth_at);
        if (found.moves.empty()) return false;
        for (const model::Move& move : found.moves) {
            view.wasted_gpu_ms += move.cost.unsaved_gpu_ms;
        }
        draft_.move(found.moves, view.pool);
        draft_.reserve(job.id, view.pool, Rule::Consolidate, found.places);
        searched_at_[view.pool.index()] = kNotYet;  // pieces are cut from jobs that moved
        order.changed(job.project);
        for (const model::Move& move : found.moves) {
            order.changed(cluster_.job(move.job).project);
        }
        return true;
    }

    // Stages 4 and 5, for the jobs that name this pool at the given place of their lists.
    void evict(PoolView& view, Rule rule, int preference) {
        Freeable freeable(view, bookings_of(view).kept());
        const auto forget = [&] {
            freeable.forget(bookings_of(view).kept());
            refused_.forget();
        };
        forget();
        const auto test = [&](ProjectId project, const LaneHead& head) {
            const cluster::LaneKey& lane = head.lane;
            return lane.preference == preference &&
                   (may_find_leavings(view, lane) || may_evict(view, project, lane, rule)) &&
                   is_due(view, lane) &&
                   (is_turn_of_others(project, lane) ||
                    (draft_.frees_gpus() && could_fit(view, head)) ||
                    is_worth_a_search(freeable, view, project, lane, rule));
        };
        QueueOrder order(view, memory_.pool(view.pool).queue, std::cref(test));
        while (const auto next = order.next()) {
            const Job& job = cluster_.job(next->job);
            if (let_pass(view, next->job, order) || evict_for(view, job, rule, order)) {
                forget();
            } else {
                is_delayed_alone(view, job) ? order.pass_over(*next) : order.close(*next);
            }
        }
    }

    // Whether GPUs that somebody leaves anyway could do.
    bool may_find_leavings(const PoolView& view, const cluster::LaneKey& lane) {
        if (!something_is_being_left(cluster_, view.pool)) return false;
        return !bookings_of(view).empty() ||
               !is_out_of_reach(view, lane.shape, lane.ask, View::Coming);
    }

    // Whether jobs of the lane have a right to anybody's GPUs.
    static bool may_evict(const PoolView& view, ProjectId project, const cluster::LaneKey& lane,
                          Rule rule) {
        const MilliGpu amount = view.cluster.most(lane.shape, view.pool) * lane.ask;
        if (rule == Rule::Reclaim) return may_reclaim(view, project, lane.preemptible, amount);
        const auto& victims = view.claim(project).victims;
        return !victims.empty() && victims.begin()->precedence < lane.precedence;
    }

    // Whether somebody may be served when the lane's turn comes, whatever becomes of its own jobs.
    bool is_turn_of_others(ProjectId project, const cluster::LaneKey& lane) const {
        const auto found = std::ranges::find(passing_, std::pair(project, lane.shape));
        return found != passing_.end();
    }

    // Whether the lane's first job could be placed now, as far as counts tell.
    bool could_fit(const PoolView& view, const LaneHead& head) {
        const cluster::LaneKey& lane = head.lane;
        if (lane.ask == 0) return true;  // companions alone
        const bool may_fit = !is_out_of_reach(view, lane.shape, lane.ask, View::Coming) &&
                             !is_in_too_small_parts(view, lane.shape, View::Coming);
        return may_fit || bookings_of(view).could_open_for(cluster_.job(head.job));
    }

    // Whether a search for victims could find any, as far as sums tell.
    bool is_worth_a_search(Freeable& freeable, const PoolView& view, ProjectId project,
                           const cluster::LaneKey& lane, Rule rule) const {
        if (!may_evict(view, project, lane, rule)) return false;
        const MilliGpu amount = view.cluster.most(lane.shape, view.pool) * lane.ask;
        if (!lane.preemptible && is_above_own_quota(view, project, amount)) return false;
        return rule != Rule::Reclaim ||
               freeable.is_possible(project, amount, counting_of(view, lane.shape));
    }

    bool evict_for(PoolView& view, const Job& job, Rule rule, QueueOrder& order) {
        const Bookings::Opening opening(bookings_of(view), job);
        const Bookings::Opening::Nodes opened = opening.nodes();
        tell_search(view, opened);
        opened_ = opening.which();
        const bool is_served = evict_for_opened(view, job, rule, order);
        tell_search(view, opened);  // they close
        return is_served;
    }

    // Room changed on these nodes.
    void tell_search(const PoolView& view, std::span<const NodeId> nodes) {
        if (searched_at_[view.pool.index()] == kNotYet) return;
        for (const NodeId node : nodes) memory_.pool(view.pool).victims.freed(node);
    }

    bool evict_for_opened(PoolView& view, const Job& job, Rule rule, QueueOrder& order) {
        const MilliGpu amount = ask_gpus(view, job, job.ask());
        const Beneficiary beneficiary{job, job.ask(), amount, rule, home_of(job)};
        // What an earlier pause of this plan left over, of GPUs, of the CPU beside them or under a
        // limit, is nobody's loss.
        if (draft_.frees_gpus() && reserve_coming(view, job)) {
            order.changed(job.project);
            return true;
        }
        const bool may_take = rule == Rule::Preempt ||
                              may_reclaim(view, job.project, job.preemptible, beneficiary.amount);
        if (!may_take || must_wait(view, beneficiary)) return false;
        if (evict_victims(view, beneficiary, order)) return true;
        if (rule != Rule::Reclaim || !drop_promises(view, beneficiary, order)) return false;
        if (!reserve_coming(view, job)) return evict_victims(view, beneficiary, order);
        order.changed(job.project);
        return true;
    }

    bool evict_victims(PoolView& view, const Beneficiary& beneficiary, QueueOrder& order) {
        const Job& job = beneficiary.job;
        const Rule rule = beneficiary.rule;
        const bool contends = scheduling::contends(known_, job.id);
        if (!contends && opened_ && refused_.covers(view, beneficiary, *opened_)) return false;
        VictimSearch& search = search_in(view);
        Eviction eviction = search.find(beneficiary);
        // Others let it pass, who may be victims now that they have started.
        if (eviction.pieces.empty() && contends &&
            searched_at_[view.pool.index()] != draft_.plan().starts.size()) {
            open(search, view);
            eviction = search.find(beneficiary);
        }
        if (eviction.protected_until) draft_.wake_at(*eviction.protected_until);
        if (eviction.pieces.empty()) {
            if (opened_) refused_.add(view, beneficiary, *opened_, eviction.is_out_of_reach);
            return false;
        }
        note_conflicts(view, beneficiary, search, eviction);
        std::pmr::set<ProjectId> changed({job.project}, memory_.nodes());
        const bool wasteful = is_wasteful(view, beneficiary);
        for (const std::size_t position : eviction.pieces) {
            const Piece& piece = search.piece(position);
            // What a victim was promised on top is free too.
            if (const auto& hold = cluster_.job(piece.job).hold) {
                for (const TaskPlacement& task : hold->tasks) search.freed(task.node);
            }
            if (wasteful) view.wasted_gpu_ms += piece.cost_at(draft_.now()).unsaved_gpu_ms;
            draft_.pause(piece, rule, job.id, wasteful);
            search.take(position);
            changed.insert(piece.project);
        }
        draft_.reserve(job.id, view.pool, rule, eviction.places);
        for (const ProjectId project : changed) order.changed(project);
        return true;
    }

    // What was promised to others gives way to an owner, where that helps; who was promised it by
    // this plan lets the owner pass in the next attempt.
    bool drop_promises(PoolView& view, const Beneficiary& beneficiary, QueueOrder& order) {
        if (!may_have(view, beneficiary.job)) return false;
        VictimSearch& search = search_in(view);
        const auto promises = promises_in_the_way(view, beneficiary, search);
        bool is_made_now = false;
        for (const JobId id : promises) {
            if (!draft_.is_winner(id)) continue;
            add(conflicts_, id, {beneficiary.job.id, view.pool, beneficiary.rule});
            is_made_now = true;
        }
        if (is_made_now) return false;
        for (const JobId id : promises) {
            const Job& holder = cluster_.job(id);
            for (const TaskPlacement& task : holder.hold->tasks) search.freed(task.node);
            draft_.drop_hold(id);
            order.changed(holder.project);
            refused_.forget();
        }
        return !promises.empty();
    }

    Bookings& bookings_of(const PoolView& view) const { return memory_.pool(view.pool).bookings; }

    // Whether nobody may be paused for it yet, whatever its rights.
    bool must_wait(const PoolView& view, const Beneficiary& beneficiary) {
        std::optional<TimePoint> until = delayed_until(view, beneficiary.job);
        const bool is_spent = is_waste_spent(view, view.wasted_gpu_ms);
        if (!until && is_spent && is_wasteful(view, beneficiary))
            until = waste_renewal(draft_.now());
        if (until) draft_.wake_at(*until);
        return until.has_value();
    }

    VictimSearch& search_in(const PoolView& view) {
        VictimSearch& search = memory_.pool(view.pool).victims;
        if (searched_at_[view.pool.index()] == kNotYet) open(search, view);
        return search;
    }

    void open(VictimSearch& search, const PoolView& view) {
        searched_at_[view.pool.index()] = draft_.plan().starts.size();
        search.open(view);
        refused_.forget();
    }

    // Nobody both gains and loses in one plan: who would lets the other pass in the next attempt.
    // In the last one winners are spared, so that the other finds other victims or waits.
    void note_conflicts(const PoolView& view, const Beneficiary& beneficiary,
                        const VictimSearch& search, const Eviction& eviction) {
        JobSet found(memory_.nodes());
        for (const std::size_t piece : eviction.pieces) {
            const JobId job = search.piece(piece).job;
            if (!draft_.is_winner(job) || !found.insert(job).second) continue;
            add(conflicts_, job, {beneficiary.job.id, view.pool, beneficiary.rule});
        }
    }

    // Whoever leaves changes what others have a right to, what is started what is booked and what
    // too large quotas are worth, and, where GPU models are exchanged, by which of them it got,
    // what its project is due; what was promised to one may be another's now; and whoever is given
    // GPUs may have to move next.
    bool may_leave_more_to_decide() const {
        const Plan& plan = draft_.plan();
        const auto is_unsettled = [&](const PoolView& view) {
            return !bookings_of(view).empty() || !view.shares.overcommitted.empty() ||
                   !view.cluster.pool(view.pool).exchange.empty();
        };
        if (plan.is_empty()) return false;
        return draft_.frees_gpus() || !plan.dropped.empty() || !draft_.honoured().empty() ||
               spares_winners_ || draft_.has_opening_start() ||
               std::ranges::any_of(views_, is_unsettled);
    }

    void wake_at_rank_changes() {
        if (const auto change = next_rank_change(cluster_)) draft_.wake_at(*change);
        std::pmr::map<JobId, MilliGpu> given(memory_.nodes());
        for (const model::Start& start : draft_.plan().starts) {
            for (const TaskPlacement& task : start.tasks) given[start.job] += task.gpus();
        }
        for (const auto& [job, gpus] : given) {
            const auto change = rank_change_once_given(cluster_, job, gpus, draft_.now());
            if (change) draft_.wake_at(*change);
        }
    }

    // Stage 7: after all that could have made them whole.
    void pause_stale_gangs() {
        StaleGangs found = stale_gangs(cluster_, views_.front().policy, draft_.now());
        if (found.next) draft_.wake_at(*found.next);
        for (const model::Pause& pause : found.pauses) draft_.pause(pause);
    }

    Cluster& cluster_;
    PlanDraft draft_;
    Memory& memory_;
    const Conflicts& known_;
    // Where the jobs of `known` may stand.
    base::SmallVector<std::pair<ProjectId, ShapeId>, 8> passing_;
    base::SmallVector<PoolView, kPools> views_;
    // By pool, of how many starts its search for victims knows.
    base::SmallVector<std::size_t, kPools> searched_at_;
    JobSet fresh_;
    std::pmr::set<std::pair<JobId, base::PoolId>> has_let_pass_;
    Conflicts conflicts_;
    Refusals refused_;  // in this stage
    std::optional<std::uint64_t> opened_;  // the bookings, for the job that is served now
    int searches_for_moves_ = 0;
    bool spares_winners_;  // that somebody else would take it from
    bool is_deferred_ = false;  // a job waits for a pool it likes better
    bool has_started_ = false;
    int last_preference_ = 0;
};

// Each further attempt costs a whole decision; one is the rule. A fourth decided nothing better in
// any small cluster (tests/properties/exhaustive.cc); with two, owners wait who need not.
constexpr int kAttemptsMax = 3;

}  // namespace

// A job that takes idle GPUs in stage 2 can turn out to be in the way of an owner in stage 3.
// Starting it to pause it at once would be a waste, so the decision is made again, the owner being
// served just before the job in its way, which may then find another place.
Plan decide(Cluster& cluster, const model::Policy& policy, TimePoint now, Memory& memory) {
    cluster::keep_ranks(cluster, policy.order, now);
    if (Plan plan; !(plan.node_moves = node_moves(cluster)).empty()) {
        plan.next_wakeup = now;
        return plan;
    }
    Conflicts known(memory.nodes());
    bool is_last = false;
    for (int count = 1;; ++count) {
        const cluster::Trial trial(cluster);
        // The next try books as the last one did: it finds the same cluster.
        Attempt attempt(cluster, policy, now, memory, known, count > 1, is_last);
        attempt.run();
        if (is_last || attempt.conflicts().empty()) return attempt.take_plan();
        const bool has_learnt = add(known, attempt.conflicts());
        is_last = !has_learnt || count + 1 == kAttemptsMax;
    }
}

Plan decide(Cluster& cluster, const model::Policy& policy, TimePoint now) {
    Memory memory;
    return decide(cluster, policy, now, memory);
}

}  // namespace berth::scheduling
