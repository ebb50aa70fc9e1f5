// SPDX-License-Identifier: Apache-2.0
//
// What people ask for, as events.
#include <algorithm>

#include "control/changes/project_change.h"
#include "control/changes/request_change.h"
#include "control/command_text.h"
#include "control/controller.h"
#include "control/pause_cost.h"
#include "model/job/task_groups.h"

namespace berth::control {
namespace {

using base::ErrorCode;
using model::JobState;

std::string job_text(model::JobId job) { return "job " + std::to_string(job.value); }

// With everything the server fills in, so that the same submission twice is the same job.
void complete(model::Submission& submission) {
    model::JobSpec& spec = submission.spec;
    if (spec.name.empty()) spec.name = name_from(submission.launch.command);
    spec.packed.reset();  // only measurements may say what it takes
    if (spec.tasks_min == 1 && spec.tasks_max == 1) model::count_tasks(spec);
}

// What the core can decide and this machine cannot do.
base::Status check_supported(const model::JobSpec& spec, bool may_be_unlike) {
    if (!spec.companions.empty() && !may_be_unlike) {
        return base::invalid(
            "companions: wanted none, for this server starts tasks that are all alike");
    }
    const bool is_live = spec.tasks_max > spec.tasks_min && spec.elastic == model::Elastic::Live;
    if (!is_live) return {};
    return base::invalid("elastic: wanted restart for a job of " + std::to_string(spec.tasks_min) +
                         " to " + std::to_string(spec.tasks_max) +
                         " tasks; live is not supported yet");
}

// What the machine says of itself is a fact.
Kind kind_of(const std::string& actor) { return actor == kMachine ? Kind::Fact : Kind::Command; }

bool holds_gpus(const model::JobRecord& job) {
    return job.state == JobState::Starting || job.state == JobState::Running;
}

// One that ended in this very turn is not in the store yet.
base::Result<model::JobRecord> ended_job(ports::Store& store, const Transaction& transaction,
                                         model::JobId job) {
    const auto& now = transaction.batch().finished;
    const auto found = std::ranges::find(now, job, &model::JobRecord::id);
    if (found != now.end()) return *found;
    return store.finished_job(job);
}

base::Error no_such_job(ports::Store& store, const Transaction& transaction, model::JobId job) {
    if (const auto ended = ended_job(store, transaction, job)) {
        return {ErrorCode::Conflict,
                job_text(job) + " has ended: " + std::string(lifecycle::name(ended->state))};
    }
    return {ErrorCode::NotFound, job_text(job) + " does not exist"};
}

// As it was submitted.
model::JobSpec spec_of(const model::JobRecord& job) {
    model::JobSpec spec = job.spec;
    spec.request = job.submitted_request.value_or(spec.request);
    return spec;
}

// A key repeated within a day answers with the first job. Errors: NotFound (the key is new),
// Conflict.
base::Result<model::JobId> known_by_key(ports::Store& store, const Transaction& transaction,
                                        const model::Submission& submission) {
    BERTH_TRY(id, job_with_key(store, transaction, submission.key));
    if (!id.is_valid()) return base::fail(ErrorCode::NotFound, "a new key");
    const model::JobRecord* live = transaction.find(id);
    const auto first =
        live == nullptr ? ended_job(store, transaction, id) : base::Result<model::JobRecord>(*live);
    if (first && spec_of(*first) == submission.spec &&
        first->command == command_text(submission.launch.command)) {
        return id;
    }
    return base::fail(ErrorCode::Conflict, "idempotency key \"" + submission.key +
                                               "\" was used for " + job_text(id) +
                                               ", which asks for something else");
}

void answer(Transaction& transaction, Done done, base::Status status) {
    transaction.acknowledge(
        [done = std::move(done), status = std::move(status)](const base::Error* failure) {
            done(failure == nullptr ? status : base::Status(tl::unexpected(*failure)));
        });
}

}  // namespace

void Controller::submit(model::Submission submission, SubmitDone done) {
    auto refuse = [this, key = submission.key, done](const base::Error& error) {
        const bool is_unwritten =
            unwritten_ && !key.empty() && unwritten_->job_with_key(key).is_valid();
        done(tl::unexpected(Refusal{is_unwritten ? outcome_unknown(error) : error, {}}));
    };
    auto turn = [this, submission = std::move(submission),
                 done = std::move(done)](Transaction& transaction) mutable {
        take_submission(transaction, submission, done);
    };
    queue_command(std::move(turn), Kind::WhileLogged, std::move(refuse));
}

void Controller::ask(Kind kind, Done done, std::function<base::Status(Transaction&)> take) {
    auto refuse = [done](const base::Error& error) { done(tl::unexpected(error)); };
    auto turn = [done = std::move(done), take = std::move(take)](Transaction& transaction) mutable {
        answer(transaction, std::move(done), take(transaction));
    };
    queue_command(std::move(turn), kind, std::move(refuse));
}

void Controller::pause(model::JobId job, std::string actor, std::optional<base::Duration> grace,
                       Done done) {
    ask(Kind::WhileLogged, std::move(done),
        [=, this, actor = std::move(actor)](Transaction& transaction) {
            return take_pause(transaction, job, actor, grace);
        });
}

void Controller::resume(model::JobId job, std::string actor, Done done) {
    ask(Kind::Command, std::move(done),
        [=, this, actor = std::move(actor)](Transaction& transaction) {
            return take_resume(transaction, job, actor);
        });
}

void Controller::cancel(model::JobId job, std::string actor, std::optional<base::Duration> grace,
                        Done done) {
    ask(Kind::WhileLogged, std::move(done),
        [=, this, actor = std::move(actor)](Transaction& transaction) {
            return take_cancel(transaction, job, actor, grace);
        });
}

void Controller::set_request(model::JobId job, ChangeOfRequest wish, std::string actor, Done done) {
    ask(Kind::Command, std::move(done),
        [=, this, wish = std::move(wish), actor = std::move(actor)](Transaction& transaction) {
            return take_request(transaction, job, wish, actor);
        });
}

void Controller::change_project(std::string name, ProjectChange change, std::string actor,
                                Done done) {
    ask(kind_of(actor), std::move(done),
        [name = std::move(name), change = std::move(change), actor](Transaction& transaction) {
            return take_project(transaction, name, change, actor);
        });
}

void Controller::record(model::EventBody event, std::string actor, Done done) {
    ask(kind_of(actor), std::move(done),
        [event = std::move(event), actor](Transaction& transaction) {
            return transaction.record(event, actor);
        });
}

void Controller::set_node(model::Node node, std::string actor, Done done) {
    ask(kind_of(actor), std::move(done),
        [this, node = std::move(node), actor](Transaction& transaction) -> base::Status {
            const auto known = state_.cluster.find_node(node.name);
            if (known.is_valid() && state_.cluster.description(known) == node) return {};
            return transaction.record(model::NodeSet{node}, actor);
        });
}

void Controller::set_size(model::JobSizeSet set, std::string actor, Done done) {
    ask(kind_of(actor), std::move(done),
        [set = std::move(set), actor](Transaction& transaction) -> base::Status {
            BERTH_TRY_VOID(transaction.record(set, actor));
            transaction.resize(set.job);
            return {};
        });
}

void Controller::set_pool(model::Pool pool, std::string actor, Done done) {
    ask(kind_of(actor), std::move(done),
        [this, pool = std::move(pool), actor](Transaction& transaction) -> base::Status {
            const auto known = state_.cluster.find_pool(pool.name);
            if (known.is_valid() && state_.cluster.pool(known).description() == pool) return {};
            return transaction.record(model::PoolSet{pool}, actor);
        });
}

void Controller::set_levels(model::Levels levels, Done done) {
    ask(Kind::Fact, std::move(done),
        [this, levels = std::move(levels)](Transaction& transaction) -> base::Status {
            if (std::ranges::equal(state_.cluster.levels(), levels)) return {};
            return transaction.record(model::LevelsSet{levels}, kMachine);
        });
}

void Controller::set_policy(const model::PolicyChanges& changes, std::string actor, Done done,
                            std::function<base::Status()> condition) {
    ask(kind_of(actor), std::move(done), [=, this](Transaction& transaction) {
        const base::Status is_met = condition ? condition() : base::Status{};
        return is_met ? take_policy(transaction, changes, actor) : is_met;
    });
}

// Kept as the setting itself writes it, so that what is the same is the same text.
base::Status Controller::take_policy(Transaction& transaction, const model::PolicyChanges& changes,
                                     const std::string& actor) {
    BERTH_TRY(next, model::changed_policy(settings_.policy, changes));
    model::PolicySet set;
    for (const auto& [name, text] : model::under_new_names(changes)) {
        std::optional<std::string> wanted;
        if (text) wanted = model::find_policy_setting(name)->write(next);
        const auto known = state_.policy.find(name);
        const bool is_same = known == state_.policy.end() ? !wanted : known->second == wanted;
        if (!is_same) set.settings.emplace(name, std::move(wanted));
    }
    if (set.settings.empty()) return {};
    BERTH_TRY(policy,
              model::changed_policy(settings_.policy, model::merged(state_.policy, set.settings)));
    if (policy.order != cluster::order_rules(state_.cluster, cluster::kRoot)) {
        set.order = policy.order;
    }
    BERTH_TRY_VOID(transaction.record(std::move(set), actor));
    return follow_policy();
}

void Controller::take_submission(Transaction& transaction, model::Submission& submission,
                                 const SubmitDone& done) {
    const auto tell = [&](tl::expected<model::JobId, Refusal> outcome) {
        transaction.acknowledge([done, outcome = std::move(outcome)](const base::Error* failure) {
            if (failure == nullptr) return done(outcome);
            done(tl::unexpected(Refusal{*failure, {}}));
        });
    };
    complete(submission);
    if (const auto supported = check_supported(submission.spec, settings_.may_be_unlike);
        !supported) {
        return tell(tl::unexpected(Refusal{supported.error(), {}}));
    }
    if (!submission.key.empty()) {
        const auto known = known_by_key(ports_.store, transaction, submission);
        if (known) return tell(*known);
        if (known.error().code != ErrorCode::NotFound) {
            return tell(tl::unexpected(Refusal{known.error(), {}}));
        }
    }
    // A job that was taken before is answered with; another one has no room.
    if (room_.shortage()) return tell(tl::unexpected(Refusal{room_.refusal(), {}}));
    const model::JobId id{state_.last_job.value + 1};
    lifecycle::fill_in(submission.spec, policy_);
    if (const auto grace = model::own_grace(submission.launch)) submission.spec.pause_grace = grace;
    model::JobSubmitted submitted{id, std::move(submission.spec), submission.launch.user,
                                  command_text(submission.launch.command), submission.key};
    if (const auto possible = lifecycle::check(state_, submitted); !possible) {
        return tell(tl::unexpected(Refusal{possible.error(), {}}));
    }
    if (auto never =
            admission_.refusal(state_.cluster, policy_, transaction.now(), id, submitted.spec)) {
        return tell(tl::unexpected(
            Refusal{{ErrorCode::Invalid, "this job can never run here"}, std::move(never)}));
    }
    transaction.note(std::move(submitted), submission.launch.user);
    transaction.keep_launch(id, std::move(submission.launch));
    tell(id);
}

base::Status Controller::take_pause(Transaction& transaction, model::JobId id,
                                    const std::string& actor, std::optional<base::Duration> grace) {
    const model::JobRecord* job = transaction.find(id);
    if (job == nullptr) return tl::unexpected(no_such_job(ports_.store, transaction, id));
    if (job->state == JobState::Cancelling) {
        return base::fail(ErrorCode::Conflict, job_text(id) + " is being cancelled");
    }
    if (job->held) return {};
    if (!job->reserved.empty()) transaction.note(model::ReservationDropped{id}, actor);
    if (holds_gpus(*job)) {
        ask_to_leave(transaction, *job, ports::StopReason::Pause, actor,
                     grace_for(transaction, id, grace));
    }
    transaction.note(model::JobHeld{id}, actor);
    return {};
}

void Controller::ask_to_leave(Transaction& transaction, const model::JobRecord& job,
                              ports::StopReason reason, const std::string& actor,
                              base::Duration grace) {
    transaction.note(model::PauseRequested{.job = job.id,
                                           .rule = model::Rule::User,
                                           .beneficiary = {},
                                           .cost = pause_cost(job, transaction.now()),
                                           .deadline = transaction.now() + grace,
                                           .whole_job = true,
                                           .tasks = {}},
                     actor);
    request_stop(transaction, job, reason, grace);
}

base::Status Controller::take_request(Transaction& transaction, model::JobId id,
                                      const ChangeOfRequest& wish, const std::string& actor) {
    const model::JobRecord* job = transaction.find(id);
    if (job == nullptr) return tl::unexpected(no_such_job(ports_.store, transaction, id));
    const Changer changer{state_, ports_, admission_, policy_};
    BERTH_TRY(set, change_of(changer, transaction, *job, wish));
    if (!set) return {};
    const bool leaves = set->requeue && job->state != JobState::Pausing;
    if (!set->requeue) transaction.resize(id);
    transaction.note(*std::move(set), actor);
    // It keeps its place in line, and nothing of its processes: they know other GPUs.
    if (leaves) {
        ask_to_leave(transaction, *job, ports::StopReason::Restart, actor,
                     grace_for(transaction, id));
    }
    return {};
}

base::Status Controller::take_resume(Transaction& transaction, model::JobId id,
                                     const std::string& actor) {
    const model::JobRecord* job = transaction.find(id);
    if (job == nullptr) return tl::unexpected(no_such_job(ports_.store, transaction, id));
    if (job->state == JobState::Cancelling) {
        return base::fail(ErrorCode::Conflict, job_text(id) + " is being cancelled");
    }
    if (job->held || job->parked_since) {
        if (job->parked_since) transaction.note(model::JobWoken{id}, actor);
        return job->held ? transaction.record(model::JobReleased{id}, actor) : base::Status{};
    }
    if (job->state == JobState::Paused || job->state == JobState::Pausing) {
        return base::fail(ErrorCode::Conflict,
                          job_text(id) + " was paused by the scheduler and resumes by itself");
    }
    return base::fail(
        ErrorCode::Conflict,
        job_text(id) + " is " + std::string(lifecycle::name(job->state)) + ", not paused");
}

// Asked a second time with a grace, the attempt is hurried up.
base::Status Controller::take_cancel(Transaction& transaction, model::JobId id,
                                     const std::string& actor,
                                     std::optional<base::Duration> grace) {
    const model::JobRecord* job = transaction.find(id);
    if (job == nullptr) return tl::unexpected(no_such_job(ports_.store, transaction, id));
    if (job->state == JobState::Cancelling) {
        if (grace) request_stop(transaction, *job, ports::StopReason::Cancel, *grace);
        return {};
    }
    if (job->tasks.empty() && job->frozen.empty()) {
        transaction.note(model::JobFinished{.job = id,
                                            .state = JobState::Cancelled,
                                            .exit_code = 0,
                                            .detail = "cancelled while it waited"},
                         actor);
        return {};
    }
    const base::Duration wait = grace_for(transaction, id, grace);
    transaction.note(model::CancelRequested{id, transaction.now() + wait}, actor);
    request_stop(transaction, *job, ports::StopReason::Cancel, wait);
    return {};
}

}  // namespace berth::control
