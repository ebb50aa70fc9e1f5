// SPDX-License-Identifier: Apache-2.0
//
// What do a scenario's commands mean? Builds the cluster from the lines before the first action,
// then plays events on it through lifecycle/ and asks scheduling/ for decisions.
#pragma once

#include <string>
#include <vector>

#include "lifecycle/apply.h"
#include "lifecycle/run_times.h"
#include "model/answer/verdict.h"
#include "model/description.h"
#include "model/plan.h"
#include "model/policy/policy.h"
#include "scenario/script.h"
#include "scheduling/explain/outlook.h"
#include "scheduling/passes/decision_cache.h"

namespace berth::scenario {

class Stage {
  public:
    Stage();

    // Plays one command and returns the lines it prints. Errors: Invalid.
    base::Result<std::vector<std::string>> play(const Command& command);

    // As things stand; empty before the first action.
    const lifecycle::State& state() const { return state_; }
    const model::Policy& policy() const { return policy_; }
    model::TimePoint now() const { return now_; }
    // Of the last decide, plan or settle.
    const model::Plan& last_plan() const { return last_plan_; }
    // What the last command said on jobs that wait.
    const std::vector<model::Verdict>& last_verdicts() const { return last_verdicts_; }

  private:
    using Lines = std::vector<std::string>;

    base::Status set_up(const Command& command);
    base::Status add_job(const Command& command, bool is_running);
    base::Status measured(const Command& command, model::JobId job);
    base::Status set_size(const Command& command, model::JobId job);
    base::Status part(const Command& command, model::JobId job);
    base::Result<Lines> act(const Command& command);
    base::Status build();
    base::Status happen(model::EventBody body);
    base::Result<model::JobId> job_named(const std::string& name) const;

    Lines decide();
    // What would be decided now; nothing is carried out. Lines with BROKEN say what no decision may
    // do.
    Lines plan();
    base::Result<Lines> why(model::JobId job);
    // The cheapest change that would start it.
    scheduling::Outlook outlook(model::JobId job);
    base::Result<Lines> suggestion(model::JobId job);
    // When it is expected to start.
    base::Result<Lines> when(model::JobId job);
    // A user asks that the job shall not run: it is held, and asked to leave if it runs.
    base::Status pause(model::JobId job);
    // Decides and lets everything asked happen at once, until nothing more is decided.
    base::Result<Lines> settle();
    base::Status carry_out(const model::Plan& plan);
    base::Status leave(model::JobId job);
    base::Status let_leave();
    Lines shares();
    Lines jobs() const;
    // When the last plan asks to decide again though nothing happens.
    Lines wakeup() const;

    model::Description description_;
    model::Policy policy_;
    lifecycle::State state_;
    scheduling::DecisionCache memory_;  // of decisions about the state
    model::Plan last_plan_;
    std::vector<model::Verdict> last_verdicts_;
    lifecycle::RunTimes run_times_;
    model::TimePoint now_;
    bool is_built_ = false;
    int created_ = 0;
};

}  // namespace berth::scenario
