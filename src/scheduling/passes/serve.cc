// SPDX-License-Identifier: Apache-2.0
#include "scheduling/passes/serve.h"

#include <algorithm>
#include <functional>
#include <ranges>

#include "scheduling/passes/allocate.h"
#include "scheduling/place/place.h"
#include "scheduling/rights/preemption_delay.h"
#include "scheduling/rights/quota_gate.h"

namespace berth::scheduling {

using cluster::Job;
using cluster::JobClassKey;
using model::Rule;

namespace {

void report(QueueOrder& order, const Changed& changed) {
    for (const ProjectId project : changed) order.changed(project);
}

// Whether GPUs that work is leaving anyway could do.
bool may_find_leavings(Decision& decision, const PoolView& view, const JobClassKey& job_class) {
    return !decision.backfill(view).empty() ||
           !exceeds_capacity(view, job_class.shape, job_class.ask, View::Coming);
}

}  // namespace

Serving::Serving(Decision& decision)
    : decision_(decision), preemption_(decision), has_withdrawn_(decision.cache().nodes()) {
    for (const auto& [id, stronger_jobs] : decision.attempt().known) {
        const Job& job = decision.cluster().job(id);
        passing_.emplace_back(job.project, job.shape);
    }
}

void Serving::allocate() {
    std::size_t started = 0;
    do {
        is_deferred_ = false;
        started = decision_.plan().starts.size();
        for (const PoolView& view : decision_.pools()) allocate_in(view);
    } while (is_deferred_ && decision_.plan().starts.size() > started);
}

void Serving::allocate_in(const PoolView& view) {
    const auto test = [&](ProjectId project, const ClassHead& head) {
        if (!may_find_leavings(decision_, view, head.job_class)) return false;
        if (const auto from = grows_from(view, head.job_class)) {
            decision_.wake_at(*from);
            return false;
        }
        return is_turn_of_others(project, head.job_class) || could_start(decision_, view, head);
    };
    QueueOrder order(view, decision_.cache().pool(view.pool).queue, std::cref(test));
    withdraw_reservations(view, order);
    while (const auto next = order.next()) {
        if (const Changed changed = withdraw_for(view, next->job); !changed.empty()) {
            report(order, changed);
            continue;
        }
        const Job& job = decision_.cluster().job(next->job);
        const bool waits_for_better = next->job_class.preference > 0 && fits_earlier(view, job);
        is_deferred_ |= waits_for_better;
        if (!waits_for_better && allocate_to(view, job)) {
            order.changed(next->project);
        } else {
            order.close(*next);
        }
    }
}

bool Serving::allocate_to(const PoolView& view, const Job& job, const Job* passed) {
    Backfill::Opening opening(decision_.backfill(view), job, passed);
    opening.open();
    return scheduling::allocate(decision_, view, job, opening);
}

// Whether a pool that the job names before this one has room for it now. Should others take that
// room first, the job is looked at here again.
bool Serving::fits_earlier(const PoolView& view, const Job& job) {
    for (const PoolId pool : decision_.cluster().pools_of(job)) {
        if (pool == view.pool) return false;
        const PoolView& earlier = decision_.pools()[pool.index()];
        const bool may = !quota_gate(earlier, job, ask_gpus(earlier, job, job.ask()));
        if (may && place(earlier, job, job.ask(), View::Idle)) return true;
    }
    return false;
}

void Serving::make_room(std::span<const Ways> passes) {
    for (int preference = 0; preference <= decision_.last_preference(); ++preference) {
        for (const PoolView& view : decision_.pools()) {
            for (const Ways& ways : passes) make_room_in(view, ways, preference);
        }
    }
}

void Serving::make_room_in(const PoolView& view, const Ways& ways, int preference) {
    Consolidation moves(decision_, view, move_searches_);
    preemption_.forget(view);
    const auto test = [&](ProjectId project, const ClassHead& head) {
        if (head.job_class.preference != preference) return false;
        if (const auto from = grows_from(view, head.job_class)) {
            decision_.wake_at(*from);
            return false;
        }
        return is_turn_of_others(project, head.job_class) ||
               (decision_.frees_gpus() && could_start(decision_, view, head)) ||
               useful(view, project, head.job_class, ways, moves).any();
    };
    QueueOrder order(view, decision_.cache().pool(view.pool).queue, std::cref(test));
    while (const auto next = order.next()) {
        const Job& job = decision_.cluster().job(next->job);
        Changed changed = withdraw_for(view, next->job);
        if (changed.empty()) {
            const Ways tried = useful(view, next->project, next->job_class, ways, moves);
            changed = serve(view, job, tried, &moves);
        }
        if (!changed.empty()) {
            report(order, changed);
            preemption_.forget(view);
            moves.forget();
        } else {
            is_delayed_alone(view, job) ? order.pass_over(*next) : order.close(*next);
        }
    }
}

Ways Serving::useful(const PoolView& view, ProjectId project, const JobClassKey& job_class,
                     const Ways& ways, const Consolidation& moves) {
    const auto could_help = [&](Rule rule) {
        return preemption_.could_help(view, project, job_class, rule);
    };
    return {.moves = ways.moves && moves.could_help(job_class),
            .reclaims = ways.reclaims && could_help(Rule::Reclaim),
            .preempts = ways.preempts && could_help(Rule::Preempt)};
}

Changed Serving::serve(const PoolView& view, const Job& job, const Ways& ways, Consolidation* moves,
                       const Job* passed) {
    Backfill::Opening opening(decision_.backfill(view), job, passed);
    // What an earlier pause or move of this plan left over, of GPUs, of the CPU beside them or
    // under a limit, costs nothing.
    if (decision_.frees_gpus()) {
        opening.open();
        if (reserve_leavings(decision_, view, job, opening)) return {job.project};
    }
    Changed changed;
    if (ways.moves && moves != nullptr) {
        changed = moves->serve(job, opening);
        if (!changed.empty()) preemption_.note_moves(view);
    }
    if (changed.empty() && ways.reclaims) {
        changed = preemption_.serve(view, job, Rule::Reclaim, opening);
    }
    if (changed.empty() && ways.preempts) {
        changed = preemption_.serve(view, job, Rule::Preempt, opening);
    }
    return changed;
}

// Serves those who would only take away again what the job is about to be given.
Changed Serving::withdraw_for(const PoolView& view, JobId turn) {
    Changed changed;
    const Withdrawals& known = decision_.attempt().known;
    const auto waiting = known.find(turn);
    if (waiting == known.end() || !has_withdrawn_.insert({turn, view.pool}).second) return changed;
    for (const StrongerJob& stronger : waiting->second) {
        if (stronger.pool != view.pool) continue;
        const Changed served = serve_first(view, stronger, decision_.cluster().job(turn));
        changed.insert(changed.end(), served.begin(), served.end());
    }
    return changed;
}

// Which job of its project came upon the one in its way depends on whom those before it did, and on
// what the project's first job asks. So the first in order that asks the same is served, or one
// before it with as much right that fits what is idle.
Changed Serving::serve_first(const PoolView& view, const StrongerJob& stronger, const Job& passed) {
    const Job& found = decision_.cluster().job(stronger.job);
    const int ask = found.is_waiting() ? found.ask() : found.tasks_min;
    const auto right_of = [&](const Job& job, int tasks) {
        return service_key(view, job.project, ask_gpus(view, job, tasks)).first;
    };
    JobOrder order;
    order.open(view.claim(found.project));
    for (const ClassHead& head : order.heads() | std::views::reverse) {
        const Job& job = decision_.cluster().job(head.job);
        if (job.gang_phase() == 0 && job.shape == found.shape && job.ask() == ask) {
            Changed changed = serve_stronger(view, job, stronger.rule, passed);
            if (!changed.empty()) return changed;
        } else if (is_before(head, class_head_of(found)) &&
                   right_of(job, job.ask()) <= right_of(found, ask)) {
            Changed changed = withdraw_for(view, job.id);
            if (job.is_waiting() && allocate_to(view, job)) changed.push_back(job.project);
            if (!changed.empty()) return changed;
        }
    }
    return serve_stronger(view, found, stronger.rule, passed);
}

Changed Serving::serve_stronger(const PoolView& view, const Job& job, Rule rule,
                                const Job& passed) {
    Changed changed = withdraw_for(view, job.id);  // who is stronger than it
    if (!job.is_waiting()) return changed;
    const bool reclaims = rule == Rule::Reclaim;
    const Job* let_pass_by = reclaims ? &passed : nullptr;
    if (allocate_to(view, job, let_pass_by)) {
        changed.push_back(job.project);
        return changed;
    }
    const Ways way{.reclaims = reclaims, .preempts = !reclaims};
    for (const ProjectId project : serve(view, job, way, nullptr, let_pass_by))
        changed.push_back(project);
    return changed;
}

// What was promised goes to those for whom it is dropped, before any other job can take it.
void Serving::withdraw_reservations(const PoolView& view, QueueOrder& order) {
    for (const auto& [id, stronger_jobs] : decision_.attempt().known) {
        const Job& job = decision_.cluster().job(id);
        if (!job.reservation || decision_.is_given_now(id) || job.pool != view.pool) continue;
        decision_.drop_reservation(id);
        order.changed(job.project);
        report(order, withdraw_for(view, id));
    }
}

// Whether others may be served when the job class's turn comes, whatever becomes of its own jobs.
bool Serving::is_turn_of_others(ProjectId project, const JobClassKey& job_class) const {
    const auto found = std::ranges::find(passing_, std::pair(project, job_class.shape));
    return found != passing_.end();
}

}  // namespace berth::scheduling
