// SPDX-License-Identifier: Apache-2.0
//
// What launchers report, as events. A report about an attempt that is not the job's newest one, or
// about a job that has ended, is old news and changes nothing.
#include <algorithm>
#include <bit>
#include <map>

#include "control/controller.h"
#include "control/gpu_use/idleness.h"
#include "control/pause_cost.h"
#include "lifecycle/idle/idle_rule.h"
#include "lifecycle/losses.h"
#include "lifecycle/plan_events.h"

namespace berth::control {
namespace {

using model::JobState;

// The record, when the report is about its newest attempt and it has one, if only a frozen one.
const model::JobRecord* current(const Transaction& transaction, ports::AttemptId attempt) {
    const model::JobRecord* job = transaction.find(attempt.job);
    if (job == nullptr || job->attempts != attempt.attempt) return nullptr;
    return job->tasks.empty() && job->frozen.empty() ? nullptr : job;
}

std::string escape_text(const std::string& detail, bool ends) {
    return "it uses GPUs beside its share: " + detail +
           (ends ? "; it is ended (escaped=end)" : "; that counts as this job's (escaped=warn)");
}

model::JobFinished finished(const model::JobRecord& job, JobState state, int exit_code,
                            std::string detail) {
    return {.job = job.id, .state = state, .exit_code = exit_code, .detail = std::move(detail)};
}

// Asked to stop for good: by a user, or by the machine, for which it fails.
model::JobFinished end_of_cancelled(const model::JobRecord& job, int exit_code,
                                    std::string detail) {
    if (job.ended_for.empty())
        return finished(job, JobState::Cancelled, exit_code, std::move(detail));
    return finished(job, JobState::Failed, exit_code == 0 ? 1 : exit_code, job.ended_for);
}

// The most tasks that it has on the same GPU.
std::int64_t tasks_on_one_gpu(const model::JobRecord& job) {
    std::map<std::pair<model::NodeId, int>, std::int64_t> tasks;
    std::int64_t most = 1;
    for (const model::TaskPlacement& task : job.tasks) {
        for (std::uint64_t mask = task.gpu_mask; mask != 0; mask &= mask - 1) {
            most = std::max(most, ++tasks[{task.node, std::countr_zero(mask)}]);
        }
    }
    return most;
}

// Its tasks of one GPU were measured together.
model::GpuProfile for_one(model::GpuProfile profile, std::int64_t tasks) {
    if (profile.compute) profile.compute->value = (profile.compute->value + tasks - 1) / tasks;
    for (base::Bytes* bytes : {&profile.persistent, &profile.peak, &profile.highest}) {
        bytes->value = (bytes->value + tasks - 1) / tasks;
    }
    return profile;
}

// Where its processes were given up, since their node takes no more work.
std::string why_frozen_ended(const cluster::Cluster& cluster, const model::JobRecord& job) {
    if (job.frozen.empty()) return {};
    const model::NodeId node = job.frozen.front().node;
    if (cluster.nodes()[node.index()].is_ready) return {};
    return "given up, since node " + cluster.node_name(node) + " takes no more work; ";
}

}  // namespace

void Controller::on_running(ports::AttemptId attempt) {
    queue([this, attempt](Transaction& transaction) { take_running(transaction, attempt); },
          kNewsLinger);
}

void Controller::on_saved(ports::AttemptId attempt) {
    queue([this, attempt](Transaction& transaction) { take_saved(transaction, attempt); },
          kNewsLinger);
}

void Controller::on_measured(ports::AttemptId attempt, const model::GpuProfile& profile) {
    queue([this, attempt,
           profile](Transaction& transaction) { take_measured(transaction, attempt, profile); },
          kNewsLinger);
}

void Controller::on_slow_pair(ports::AttemptId one, ports::AttemptId other) {
    queue([this, one, other](Transaction& transaction) { take_slow_pair(transaction, one, other); },
          kNewsLinger);
}

void Controller::on_frozen(ports::AttemptId attempt, const model::Frozen& frozen) {
    queue([this, attempt, frozen](Transaction& transaction) {
        take_frozen(transaction, attempt, frozen);
    });
}

void Controller::on_idle(ports::AttemptId attempt, base::Duration idle) {
    if (unwritten_) return;  // it is reported again
    queue([this, attempt, idle](Transaction& turn) { take_idle(turn, attempt, idle); });
}

void Controller::on_waking(ports::AttemptId attempt) {
    queue([this, attempt](Transaction& transaction) { take_waking(transaction, attempt); });
}

void Controller::on_exit(ports::AttemptId attempt, const ports::AttemptExit& exit) {
    queue([this, attempt, exit](Transaction& turn) { take_exit(turn, attempt, exit); });
}

void Controller::on_lost(ports::AttemptId attempt, const std::string& detail) {
    queue([this, attempt, detail](Transaction& turn) { take_lost(turn, attempt, detail); });
}

void Controller::take_running(Transaction& transaction, ports::AttemptId attempt) {
    const model::JobRecord* job = current(transaction, attempt);
    if (job == nullptr || job->state != JobState::Starting) return;
    transaction.note(model::JobRunning{job->id, ports_.launcher.pause_way(attempt)}, kMachine);
}

void Controller::take_saved(Transaction& transaction, ports::AttemptId attempt) {
    const model::JobRecord* job = current(transaction, attempt);
    if (job == nullptr || job->state == JobState::Cancelling || job->tasks.empty()) return;
    transaction.note(model::CheckpointSaved{job->id}, kMachine);
}

void Controller::take_measured(Transaction& transaction, ports::AttemptId attempt,
                               const model::GpuProfile& profile) {
    const model::JobRecord* job = current(transaction, attempt);
    if (job == nullptr) return;
    transaction.note(model::JobMeasured{job->id, for_one(profile, tasks_on_one_gpu(*job))},
                     kMachine);
}

// The one that came later leaves; the other was there before.
void Controller::take_slow_pair(Transaction& transaction, ports::AttemptId one,
                                ports::AttemptId other) {
    const model::JobRecord* stays = current(transaction, one);
    const model::JobRecord* leaves = current(transaction, other);
    const auto is_packed = [](const model::JobRecord* job) {
        return job != nullptr && job->state == JobState::Running && job->spec.packed;
    };
    if (!is_packed(stays) || !is_packed(leaves)) return;
    if (std::pair(leaves->last_start, leaves->id) < std::pair(stays->last_start, stays->id))
        std::swap(stays, leaves);
    model::PauseRequested request;
    request.job = leaves->id;
    request.rule = model::Rule::Part;
    request.beneficiary = stays->id;
    request.cost = pause_cost(*leaves, transaction.now());
    transaction.note(model::JobsParted{leaves->id, stays->id}, kMachine);
    execute(transaction, std::move(request), ports::StopReason::Pause);
}

void Controller::take_frozen(Transaction& transaction, ports::AttemptId attempt,
                             const model::Frozen& frozen) {
    const model::JobRecord* job = current(transaction, attempt);
    if (job == nullptr) return;
    const model::JobId id = job->id;
    if (job->state == JobState::Starting && !job->frozen.empty()) {
        // The crash fell between the commit and the resume: the order still stands.
        return transaction.start(id);
    }
    if (job->state == JobState::Running && job->releasing.empty()) {
        return transaction.note(model::JobParked{id, frozen}, kMachine);
    }
    if (job->state != JobState::Pausing) return;
    stopping_.erase(id);
    // A promise that was made to it for elsewhere is of no use to it any more.
    if (!job->reserved.empty()) transaction.note(model::ReservationDropped{id}, kMachine);
    transaction.note(model::JobPaused{.job = id, .saved = true, .detail = {}, .frozen = frozen},
                     kMachine);
}

// Nothing is written down before it is off its GPUs: where that cannot be, nothing has changed.
void Controller::take_idle(Transaction& transaction, ports::AttemptId attempt,
                           base::Duration idle) {
    const model::JobRecord* job = current(transaction, attempt);
    if (job == nullptr || !lifecycle::may_be_parked(*job, idle)) return;
    transaction.park(attempt);
}

void Controller::take_waking(Transaction& transaction, ports::AttemptId attempt) {
    const model::JobRecord* job = current(transaction, attempt);
    if (job == nullptr || !job->parked_since) return;
    transaction.note(model::JobWoken{job->id}, kMachine);
}

// Said once; but the policy may come to say `end` after that.
void Controller::on_escaped(ports::AttemptId attempt, const std::string& detail) {
    queue([this, attempt, detail](Transaction& transaction) {
        const model::JobRecord* job = current(transaction, attempt);
        if (job == nullptr || job->state == JobState::Cancelling) return;
        const bool ends = policy_.escaped == model::Escaped::End;
        const std::string what = escape_text(detail, ends);
        if (job->escaped.empty()) {
            transaction.note(model::JobEscaped{job->id, detail}, kMachine);
            transaction.say(attempt, what);
        }
        if (ends) end_job(transaction, *job, what);
    });
}

void Controller::end_job(Transaction& transaction, const model::JobRecord& job,
                         std::string reason) {
    const base::Duration grace = grace_for(transaction, job.id);
    transaction.note(model::CancelRequested{job.id, transaction.now() + grace, std::move(reason)},
                     kMachine);
    request_stop(transaction, job, ports::StopReason::Cancel, grace);
}

void Controller::on_gpus_seen(std::vector<UseSeen> seen) {
    queue([this, seen = std::move(seen)](Transaction& transaction) {
        for (const UseSeen& use : seen) {
            const model::JobRecord* job = current(transaction, use.attempt);
            if (job == nullptr) continue;
            const auto act = take_use(transaction, policy_, *job, use);
            if (act == model::IdleAct::Park) transaction.park(use.attempt);
            if (act == model::IdleAct::End)
                end_job(transaction, *job, idle_text(transaction, *job));
        }
    });
}

void Controller::take_exit(Transaction& transaction, ports::AttemptId attempt,
                           const ports::AttemptExit& exit) {
    const model::JobRecord* job = current(transaction, attempt);
    if (job == nullptr) return;
    stopping_.erase(job->id);
    const auto finish = [&](model::JobFinished event) {
        // Else it is as good as now.
        constexpr base::Duration kUnseen{1'000};
        if (exit.ago >= kUnseen) event.ended = transaction.now() - exit.ago;
        transaction.note(std::move(event), kMachine);
    };
    switch (job->state) {
        case JobState::Cancelling:
            return finish(end_of_cancelled(*job, exit.exit_code, exit.detail));
        case JobState::Pausing:
            // One that had ended before it was asked has done its work.
            if (!exit.stop_asked) break;
            transaction.note(model::JobPaused{.job = job->id,
                                              .saved = !exit.killed && exit.signal == 0,
                                              .detail = exit.detail},
                             kMachine);
            return;
        case JobState::Paused:
            // Parked, its processes run and may end by themselves.
            if (job->parked_since && exit.signal == 0 && !exit.stop_asked) break;
            return requeue(transaction, *job, why_frozen_ended(state_.cluster, *job) + exit.detail);
        default:
            if (exit.stop_asked && job->is_resizing()) {
                return go_on_resized(transaction, *job, !exit.killed && exit.signal == 0);
            }
            // It was not us who stopped it: the machine is going down.
            if (exit.stop_asked) return requeue(transaction, *job, exit.detail);
            break;
    }
    finish(finished(*job, exit.exit_code == 0 ? JobState::Succeeded : JobState::Failed,
                    exit.exit_code, exit.detail));
}

void Controller::take_lost(Transaction& transaction, ports::AttemptId attempt,
                           const std::string& detail) {
    const model::JobRecord* job = current(transaction, attempt);
    if (job == nullptr) return;
    const bool never_started = detail == ports::kNeverStarted;
    stopping_.erase(job->id);
    if (job->state == JobState::Cancelling) {
        transaction.note(end_of_cancelled(*job, 0, detail), kMachine);
    } else if (job->state == JobState::Pausing) {
        transaction.note(model::JobPaused{.job = job->id, .saved = never_started, .detail = detail},
                         kMachine);
    } else if (never_started && job->state == JobState::Starting) {
        // The crash fell between the commit and the start: the order still stands.
        if (job->is_resizing()) return go_on_resized(transaction, *job, true);
        transaction.start(job->id);
    } else {
        requeue(transaction, *job, detail);
    }
}

// All its processes are gone: its next attempt starts at once, with the tasks that it has now.
void Controller::go_on_resized(Transaction& transaction, const model::JobRecord& job, bool saved) {
    const model::JobId id = job.id;
    // What it was given meanwhile has computed nothing yet.
    const std::int64_t unsaved = pause_cost(job, transaction.now()).unsaved_gpu_ms *
                                 job.started_tasks / std::ssize(job.tasks);
    transaction.note(lifecycle::event_of_leaving(job, {saved, unsaved}), kMachine);
    transaction.start(id);
}

// The attempt ended through no doing of the job's: it waits again, a bounded number of times.
void Controller::requeue(Transaction& transaction, const model::JobRecord& job,
                         const std::string& detail) {
    const int losses = lifecycle::losses_in_a_row(job, transaction.now());
    if (losses >= kLostAttemptsMax) {
        transaction.note(
            finished(job, JobState::Failed, 1,
                     "lost " + std::to_string(losses + 1) + " attempts, the last one: " + detail),
            kMachine);
        return;
    }
    transaction.note(model::AttemptLost{.job = job.id, .detail = detail}, kMachine);
}

}  // namespace berth::control
