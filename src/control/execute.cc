// SPDX-License-Identifier: Apache-2.0
//
// How does a plan become events, and committed events become effects?
#include <algorithm>
#include <chrono>

#include "control/controller.h"
#include "control/launch_order.h"
#include "crash/crash_point.h"
#include "lifecycle/plan_events.h"
#include "scheduling/decide.h"

namespace berth::control {
namespace {

// Events a live job after which a snapshot is written: to write one down costs about as much as an
// event, so that snapshots are a small part of all writing, and a restart reads so much at most.
constexpr std::int64_t kEventsPerJob = 3;

}  // namespace

// Not after every command: when decisions take long, as long a time is left to everything else.
void Controller::decide(Transaction& transaction) {
    const model::TimePoint now = transaction.now();
    if (next_wakeup_ && *next_wakeup_ <= now) needs_decision_ = true;
    if (!needs_decision_ || now < decide_from_) return;
    const model::TimePoint began = ports_.clock.now();
    const auto exactly_began = std::chrono::steady_clock::now();
    const model::Plan plan = scheduling::decide(state_.cluster, policy_, now, memory_);
    settings_.decided(std::chrono::steady_clock::now() - exactly_began);
    decide_from_ = now + (ports_.clock.now() - began);
    needs_decision_ = false;
    // A wake-up that is due already would make the loop spin.
    next_wakeup_ = plan.next_wakeup;
    if (next_wakeup_) next_wakeup_ = std::max(*next_wakeup_, now + base::Duration{1});
    // When their processes are gone they are put in line again (take_exit).
    for (const model::JobId job : plan.give_ups) {
        if (stopping_.contains(job)) continue;
        request_stop(transaction, *transaction.find(job), ports::StopReason::Cancel, {});
    }
    execute(transaction, plan);
}

void Controller::execute(Transaction& transaction, const model::Plan& plan) {
    auto events = lifecycle::events_of(state_, plan, policy_, transaction.now());
    const auto moves = [&](model::JobId job) {
        return std::ranges::find(plan.moves, job, &model::Move::job) != plan.moves.end();
    };
    for (model::EventBody& event : events) {
        if (auto* pause = std::get_if<model::PauseRequested>(&event)) {
            const bool is_move = moves(pause->job);
            execute(transaction, std::move(*pause),
                    is_move ? ports::StopReason::Restart : ports::StopReason::Pause);
            continue;
        }
        const auto* starting = std::get_if<model::JobStarting>(&event);
        const model::JobId started = starting != nullptr ? starting->job : model::JobId{};
        transaction.note(std::move(event), kScheduler);
        if (!started.is_valid()) continue;
        if (transaction.find(started)->is_resizing()) {
            stop_to_resize(transaction, started);
        } else {
            transaction.start(started);
        }
    }
}

// It has more tasks now than its processes know of. They save and end, then all start again.
void Controller::stop_to_resize(Transaction& transaction, model::JobId id) {
    if (stopping_.contains(id)) return;  // asked before, for another change
    const model::JobRecord& job = *transaction.find(id);
    request_stop(transaction, job, ports::StopReason::Restart, grace_for(transaction, id));
}

// Two jobs can each need a part of the same victim; it is asked once. A job's own grace counts.
void Controller::execute(Transaction& transaction, model::PauseRequested request,
                         ports::StopReason reason) {
    const model::JobRecord* job = transaction.find(request.job);
    if (job->state == model::JobState::Pausing) return;
    const base::Duration grace = grace_for(transaction, request.job);
    request.deadline = transaction.now() + grace;
    transaction.note(std::move(request), kScheduler);
    request_stop(transaction, *job, reason, grace);
}

base::Duration Controller::grace_for(const Transaction& transaction, model::JobId job,
                                     std::optional<base::Duration> wanted) {
    if (wanted) return *wanted;
    if (const auto own = transaction.find(job)->spec.pause_grace) return *own;
    // In the log of an earlier version only the launch says it.
    const auto stored = ports_.store.launch_of(job);
    const auto own = stored ? model::own_grace(*stored) : std::nullopt;
    return own.value_or(policy_.pause_grace);
}

// Processes that do not know all tasks, or keep only some of them, cannot continue as they are.
void Controller::request_stop(Transaction& transaction, const model::JobRecord& job,
                              ports::StopReason reason, base::Duration grace) {
    if (reason == ports::StopReason::Pause && !job.is_of_one_piece())
        reason = ports::StopReason::Restart;
    const StopOrder order{{job.id, job.attempts}, reason, grace};
    stopping_[job.id] = {order, transaction.now() + grace};
    transaction.stop(order);
}

// The launcher kills what outstays its grace; this is for the order that got lost on the way.
void Controller::repeat_stops(Transaction& transaction) {
    for (auto& [job, stopping] : stopping_) {
        if (transaction.now() < stopping.deadline + kStopPatience) continue;
        stopping.order.grace = base::Duration{0};
        stopping.deadline = transaction.now();
        transaction.stop(stopping.order);
    }
}

void Controller::run_effects(const Transaction& transaction) {
    const Terms terms{state_.cluster, policy_};
    for (const model::JobId id : transaction.resizes()) {
        const model::JobRecord* job = transaction.find(id);
        if (job != nullptr && !job->tasks.empty())
            ports_.launcher.resize({{id, job->attempts}, {}, task_launches(terms, *job)});
    }
    const auto launch_all = [&] {
        for (const model::JobId job : transaction.starts()) {
            launch(transaction, job);
            crash::crash_point("after-launch");
        }
    };
    if (!transaction.starts().empty()) ports_.store.read_together(launch_all);
    for (const auto& [attempt, text] : transaction.sayings()) ports_.launcher.note(attempt, text);
    for (const StopOrder& stop : transaction.stops()) {
        ports_.launcher.stop(stop.attempt, stop.reason, stop.grace);
        crash::crash_point("after-stop");
    }
    for (const ports::AttemptId attempt : transaction.parks()) ports_.launcher.park(attempt);
    const auto live = static_cast<std::int64_t>(state_.jobs.size());
    if (events_since_snapshot_ < std::max(settings_.snapshot_events, kEventsPerJob * live)) return;
    // The log is complete without it: try again after as many events more.
    if (const base::Status written = write_snapshot(); !written) events_since_snapshot_ = 0;
}

void Controller::launch(const Transaction& transaction, model::JobId id) {
    const model::JobRecord* job = transaction.find(id);
    if (job == nullptr || job->tasks.empty()) return;
    const auto give = [&](ports::LaunchOrder order) {
        order.log = lifecycle::incarnation_of(state_, *job);
        const auto own =
            job->spec.pause_grace ? job->spec.pause_grace : model::own_grace(order.spec);
        order.grace = own.value_or(policy_.pause_grace);
        job->frozen.empty() ? ports_.launcher.start(order) : ports_.launcher.resume(order);
    };
    const Terms terms{state_.cluster, policy_};
    const model::GpuProfile* known = state_.profiles.of(*job);
    if (const model::LaunchSpec* launch = transaction.launch_of(id)) {
        return give(launch_order(terms, *job, *launch, known));
    }
    auto stored = ports_.store.launch_of(id);
    if (stored) return give(launch_order(terms, *job, std::move(*stored), known));
    on_exit({id, job->attempts},
            {.exit_code = 126, .detail = "its command cannot be read: " + stored.error().message});
}

}  // namespace berth::control
