// SPDX-License-Identifier: Apache-2.0
//
// Who turns wishes and facts into what happens? The loop:
//
//   commands and facts -> events -> state -> decide -> events -> one group commit -> effects
//
// Commands and facts only queue up; step() takes all of them at once, so that any number of
// submissions and the starts they lead to share one durable write. It does no I/O but through its
// ports and starts no timer: it is called when `wake` was, or when next_deadline() has come.
//
// Guarantees: 1. nothing is acknowledged, started or stopped before its event is durable;
// 2. after a crash at any moment recover() continues from the log: acknowledged jobs are there, ids
// are never used twice, what was ordered and not done is ordered again; 3. without room nothing new
// is taken up and no job is started: what people ask for is refused with the cause, but for what
// lets jobs end. A batch that the log has no room for is tried again, alone, until it is written;
// nothing of it happens before; 4. after a commit that failed otherwise nothing more happens
// (has_failed()): memory is ahead of the log, a restart is the recovery.
// One thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/admission.h"
#include "control/changes/project_change.h"
#include "control/inbox.h"
#include "control/settings.h"
#include "control/shortage.h"
#include "control/submission.h"
#include "control/transaction.h"
#include "control/verdicts.h"
#include "lifecycle/apply.h"
#include "scheduling/passes/decision_cache.h"

namespace berth::control {

class Controller final : public ports::LauncherListener {
  public:
    Controller(Settings settings, Ports ports);

    // Called once, first. Errors: the log cannot be read or contradicts itself.
    base::Status recover();

    // --- commands; each is answered once, from step()
    // The name may be empty, then one is made from the command.
    void submit(model::Submission submission, SubmitDone done);
    void pause(model::JobId job, std::string actor, std::optional<base::Duration> grace, Done done);
    void resume(model::JobId job, std::string actor, Done done);
    void cancel(model::JobId job, std::string actor, std::optional<base::Duration> grace,
                Done done);
    // What each of its tasks asks for of its GPUs from now on. A running one has it at once, or is
    // refused it with what would fit.
    void set_request(model::JobId job, ChangeOfRequest wish, std::string actor, Done done);
    // How many tasks it wants from now on; a running one goes on.
    void set_size(model::JobSizeSet set, std::string actor, Done done);
    // What does not change anything is answered without an event.
    void change_project(std::string name, ProjectChange change, std::string actor, Done done);
    void set_project(const model::Project& project, std::string actor, Done done) {
        change_project(project.name, as_given(project), std::move(actor), std::move(done));
    }
    // An event that changes nothing beside the state. Errors: those of lifecycle::check.
    void record(model::EventBody event, std::string actor, Done done);
    void set_node(model::Node node, std::string actor, Done done);
    // A pool as it is to be, with its labels, its exchange and its spares.
    void set_pool(model::Pool pool, std::string actor, Done done);
    void set_levels(model::Levels levels, Done done);
    // All of them or none, from the next decision on; none where `condition` fails in the turn.
    void set_policy(const model::PolicyChanges& changes, std::string actor, Done done,
                    std::function<base::Status()> condition = {});

    // --- facts
    void on_running(ports::AttemptId attempt) override;
    void on_saved(ports::AttemptId attempt) override;
    void on_measured(ports::AttemptId attempt, const model::GpuProfile& profile) override;
    void on_slow_pair(ports::AttemptId one, ports::AttemptId other) override;
    void on_frozen(ports::AttemptId attempt, const model::Frozen& frozen) override;
    void on_idle(ports::AttemptId attempt, base::Duration idle) override;
    void on_waking(ports::AttemptId attempt) override;
    void on_gpus_seen(std::vector<UseSeen> seen);
    void on_escaped(ports::AttemptId attempt, const std::string& detail) override;
    void on_exit(ports::AttemptId attempt, const ports::AttemptExit& exit) override;
    void on_lost(ports::AttemptId attempt, const std::string& detail) override;

    // --- the loop
    void step();
    // When step() is to be called although nothing is queued.
    std::optional<model::TimePoint> next_deadline() const;
    bool has_failed() const { return failure_.has_value(); }
    const std::optional<base::Error>& failure() const { return failure_; }
    // For an orderly end: the next start reads the snapshot alone.
    base::Status write_snapshot();

    // --- questions
    const lifecycle::State& state() const { return state_; }
    const model::Policy& policy() const { return policy_; }
    // Without what people have set since.
    const model::Policy& started_policy() const { return settings_.policy; }
    // Set while there is no room for more, as of now.
    const std::optional<Shortage>& shortage();
    // Why a job waits; none when it waits for nothing.
    std::optional<model::Verdict> why(model::JobId job);
    // What the order says of a job that has not ended.
    std::optional<model::OrderAccount> order_account(model::JobId job);
    // What the machine lacks for the processes of a job that starts; empty = nothing.
    std::string lack_of_start(const model::JobRecord& job) const;
    Outlook outlook(const model::Submission& submission);

  private:
    // A fact, which waits where it cannot be written down.
    void queue(Inbox::Turn fact, base::Duration within = base::Duration{0});
    void queue_command(Inbox::Turn turn, Kind kind, Inbox::Refuse refuse);
    bool write_unwritten();
    Writable writable() const;

    // commands.cc
    void ask(Kind kind, Done done, std::function<base::Status(Transaction&)> take);
    void take_submission(Transaction& transaction, model::Submission& submission,
                         const SubmitDone& done);
    base::Status take_pause(Transaction& transaction, model::JobId job, const std::string& actor,
                            std::optional<base::Duration> grace);
    base::Status take_resume(Transaction& transaction, model::JobId job, const std::string& actor);
    base::Status take_cancel(Transaction& transaction, model::JobId job, const std::string& actor,
                             std::optional<base::Duration> grace);
    base::Status take_request(Transaction& transaction, model::JobId job,
                              const ChangeOfRequest& wish, const std::string& actor);
    void ask_to_leave(Transaction& transaction, const model::JobRecord& job,
                      ports::StopReason reason, const std::string& actor, base::Duration grace);
    base::Status take_policy(Transaction& transaction, const model::PolicyChanges& changes,
                             const std::string& actor);

    // facts.cc
    void take_running(Transaction& transaction, ports::AttemptId attempt);
    void take_saved(Transaction& transaction, ports::AttemptId attempt);
    void take_measured(Transaction& transaction, ports::AttemptId attempt,
                       const model::GpuProfile& profile);
    void take_slow_pair(Transaction& transaction, ports::AttemptId one, ports::AttemptId other);
    void take_frozen(Transaction& transaction, ports::AttemptId attempt,
                     const model::Frozen& frozen);
    void take_idle(Transaction& transaction, ports::AttemptId attempt, base::Duration idle);
    void take_waking(Transaction& transaction, ports::AttemptId attempt);
    void take_exit(Transaction& transaction, ports::AttemptId attempt,
                   const ports::AttemptExit& exit);
    void take_lost(Transaction& transaction, ports::AttemptId attempt, const std::string& detail);
    void end_job(Transaction& transaction, const model::JobRecord& job, std::string reason);
    void go_on_resized(Transaction& transaction, const model::JobRecord& job, bool saved);
    void requeue(Transaction& transaction, const model::JobRecord& job, const std::string& detail);

    // execute.cc
    void decide(Transaction& transaction);
    void execute(Transaction& transaction, const model::Plan& plan);
    void execute(Transaction& transaction, model::PauseRequested request, ports::StopReason reason);
    void stop_to_resize(Transaction& transaction, model::JobId job);
    void request_stop(Transaction& transaction, const model::JobRecord& job,
                      ports::StopReason reason, base::Duration grace);
    void repeat_stops(Transaction& transaction);
    void run_effects(const Transaction& transaction);
    void launch(const Transaction& transaction, model::JobId job);
    base::Duration grace_for(const Transaction& transaction, model::JobId job,
                             std::optional<base::Duration> wanted = {});

    // recovery.cc
    base::Status replay();
    // What the state says of the policy holds. Errors: it cannot be read.
    base::Status follow_policy();
    void take_up_attempts();

    void note_change(const model::EventBody& body);
    bool commit(Transaction& transaction);

    Settings settings_;
    Ports ports_;
    model::Policy policy_;  // that decides
    lifecycle::State state_;
    scheduling::DecisionCache memory_;  // of decisions about the state
    Admission admission_;
    Verdicts verdicts_;
    Inbox inbox_;
    RoomWatch room_;
    UnwrittenUse unwritten_use_;
    std::optional<base::Error> failure_;
    // Applied to the state, and not yet in the log for want of room.
    std::optional<Transaction> unwritten_;

    bool needs_decision_ = true;
    model::TimePoint decide_from_;  // not before, so that decisions leave room for the rest
    std::optional<model::TimePoint> next_wakeup_;
    struct Stopping {
        StopOrder order;
        model::TimePoint deadline;
    };
    std::map<model::JobId, Stopping> stopping_;  // asked to stop, not yet gone
    std::int64_t events_since_snapshot_ = 0;
};

}  // namespace berth::control
