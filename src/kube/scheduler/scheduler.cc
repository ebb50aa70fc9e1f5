// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/scheduler.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "codec/words/words.h"
#include "kube/cluster/asks.h"
#include "lifecycle/describe.h"

namespace berth::kube::scheduler {
namespace {

using cluster::Gang;

// The time after which a refused change is tried again once something changed that may help.
constexpr base::Duration kLookAgain = std::chrono::seconds(1);
// An empty list calls no handler.
constexpr base::Duration kSyncLook = std::chrono::milliseconds(20);
constexpr base::Duration kStaleLook = std::chrono::seconds(1);
// No gang is placed while it begins again.
constexpr base::Duration kBeginAgainEvery = std::chrono::minutes(1);

// Kinds whose pods are placed one by one.
constexpr std::array<std::string_view, 5> kMakesSinglePods{
    "ReplicaSet", "StatefulSet", "ReplicationController", "DaemonSet", "Node"};

Subject subject_of(const objects::Workload& workload) {
    const objects::WorkloadTraits& its = objects::traits(workload.kind);
    return {std::string(its.group) + std::string(its.version), std::string(its.name),
            *workload.meta.name_space, workload.meta.name, workload.meta.uid};
}

// The core numbers the jobs of a description in their order, from 1.
model::JobId job_at(std::size_t position) { return {static_cast<std::int64_t>(position) + 1}; }

}  // namespace

Scheduler::Scheduler(client::Requests& requests, client::Timers& timers, const ports::Clock& clock,
                     Options options)
    : requests_(requests),
      timers_(timers),
      clock_(clock),
      options_(std::move(options)),
      watches_(requests, timers, change_handlers(), options_.seed),
      gangs_(options_.name),
      rights_([this](const auto& what, const auto& done) { say_if_refused(what, done); }),
      nodes_(strangers_,
             [this](const auto& what, const auto& done) { say_if_refused(what, done); }),
      events_(requests, timers, clock),
      binder_(
          requests, timers,
          [this](model::JobId job) { return jobs_ ? jobs_->gang_of(job) : nullptr; },
          [this](model::JobId job, bool is_suspended) { return notes_of(job, is_suspended); },
          [this](model::JobId job, int rank, const model::JobSpec& asks, cluster::Sizes sizes) {
              return jobs_ && jobs_->asks_as_taken(job, rank, asks, sizes);
          },
          [this](const model::JobSpec& asks, const std::string& node) {
              return why_not(asks, node);
          }),
      turn_(timers),
      look_again_(timers) {}

ChangeHandlers Scheduler::change_handlers() {
    ChangeHandlers handlers;
    handlers.node = [this](const objects::Node* before, const objects::Node* now) {
        nodes_.take(before, now);
        touch();
    };
    handlers.pod = [this](const objects::Pod* before, const objects::Pod* now) {
        const objects::Pod& pod = now != nullptr ? *now : *before;
        if (gangs_.are_ours(pod)) {
            if (now != nullptr) {
                nodes_.take_ask(*now->ask);
                say_if_unknown(*now);
            }
            gangs_.take(before, now);
        } else if (now != nullptr && now->is_bound()) {
            strangers_.set(*now);
        } else {
            strangers_.clear(pod.meta.uid);
        }
        touch();
    };
    handlers.workload = [this](const objects::Workload* before, const objects::Workload* now) {
        if (now != nullptr && now->is_suspended) {
            for (const auto& part : now->parts) nodes_.take_ask(*part.ask);
        }
        gangs_.take(before, now);
        touch();
    };
    handlers.name_space = [this](const Namespace* before, const Namespace* now) {
        const std::string& name = (now != nullptr ? now : before)->meta.name;
        const objects::Labels* labels = now != nullptr ? &*now->meta.labels : nullptr;
        if (rights_.take_namespace(name, labels)) {
            gangs_.touch(name);
            may_help_refused_ = true;
        }
        touch();
    };
    handlers.budget = [this](const auto* before, const auto* now) {
        if (budgets_.take(before, now))
            gangs_.touch(*(now != nullptr ? now : before)->meta.name_space);
        touch();
    };
    const auto declared = [this](const auto* before, const auto* now) {
        rights_.take(before, now);
        touch();
    };
    handlers.project = declared;
    handlers.pool = declared;
    handlers.policy = declared;
    return handlers;
}

std::string Scheduler::trouble() const { return failure_ ? failure_->message : watches_.trouble(); }

// --- turns

void Scheduler::start() {
    watches_.start();
    touch();
}

void Scheduler::touch(base::Duration within) {
    const base::TimePoint at = timers_.now() + within;
    if (turn_.is_running() && turn_at_ <= at) return;
    turn_at_ = at;
    turn_.start(within, [this] { turn(); });
}

void Scheduler::turn() {
    if (failure_) return;
    if (!is_deciding()) {
        if (!watches_.are_synced()) return touch(kSyncLook);
        if (const base::Status begun = begin(); !begun) {
            failure_ = begun.error();
            return;
        }
    }
    // What may be half a minute old places no gang and pauses none.
    if (watches_.are_stale()) return touch(kStaleLook);
    tell_core();
    controller_->step();
    for (const model::JobFinished& end : std::exchange(ended_, {})) jobs_->ended(end);
    pauses_ += paused_.size();
    for (const model::JobId job : std::exchange(promised_, {})) note_promise(job);
    for (const model::JobId job : std::exchange(paused_, {})) {
        if (const auto gang = jobs_->uid_of(job)) jobs_->review(*gang);
        say_paused(job);
    }
    if (controller_->has_failed()) failure_ = controller_->failure();
    if (rights_.take_answered() && rights_.is_any_refused() && can_begin_again()) {
        options_.log("begins again, with what was declared");
        return options_.begin_again();
    }
    const bool is_any_refused = rights_.is_any_refused() || nodes_.is_any_refused();
    if ((may_help_refused_ || is_any_refused) && !look_again_.is_running())
        look_again_.start(kLookAgain, [this] { look_again(); });
    if (const auto deadline = controller_->next_deadline())
        touch(std::max(*deadline - clock_.now(), base::Duration{0}));
}

void Scheduler::tell_core() {
    if (rights_.renew()) {
        may_help_refused_ = true;
        rights_.tell(*controller_);
        nodes_.set_levels(rights_.levels());
        gangs_.touch_all();
    }
    for (const Uid gang : gangs_.take_changed()) {
        jobs_->review(gang);
        reasons_->look_at(gang);
    }
    may_help_refused_ |= nodes_.tell(*controller_);
}

void Scheduler::look_again() {
    if (std::exchange(may_help_refused_, false)) jobs_->forget_refusals();
    nodes_.try_again();
    if (rights_.is_any_refused()) {
        rights_.tell(*controller_);
        may_help_refused_ = true;
    }
    touch();
}

// Whether a new state has what is declared and every job that is there.
bool Scheduler::can_begin_again() {
    if (timers_.now() - begun_ < kBeginAgainEvery) return false;
    cluster::Strangers strangers = strangers_;
    const cluster::Described gangs = gangs_now(strangers);
    const auto is_kept = [&](const auto& each) {
        const auto gang = jobs_->uid_of(each.first);
        return !gang || std::ranges::find(gangs.gangs, *gang) != gangs.gangs.end();
    };
    return std::ranges::all_of(controller_->state().jobs, is_kept) &&
           lifecycle::from_description(described(gangs));
}

base::Status Scheduler::begin() {
    begun_ = timers_.now();
    rights_.renew();
    nodes_.set_levels(rights_.levels());
    nodes_.tell_all();
    cluster::Described gangs = gangs_now(strangers_);
    BERTH_TRY(state, first_state(gangs));
    const std::string& profile = rights_.profile();
    BERTH_TRY(policy, model::policy_named(profile.empty() ? "berth" : profile));
    control::Settings settings{.policy = policy};
    settings.snapshot_events = INT64_MAX / 2;
    settings.may_be_unlike = true;
    settings.wake = [this](base::Duration within) { touch(within); };
    settings.decided = [this](std::chrono::nanoseconds time) { decisions_.add(time); };
    settings.committed = [this](std::span<const model::Event> events) {
        for (const model::Event& event : events) {
            const auto* finished = std::get_if<model::JobFinished>(&event.body);
            if (finished != nullptr) ended_.push_back(*finished);
            const auto* paused = std::get_if<model::JobPaused>(&event.body);
            if (paused != nullptr) paused_.push_back(paused->job);
            const auto* reserved = std::get_if<model::JobReserved>(&event.body);
            if (reserved != nullptr) promised_.push_back(reserved->job);
        }
    };
    std::map<model::JobId, model::LaunchSpec> launches;
    for (std::size_t i = 0; i < gangs.gangs.size(); ++i) {
        const Gang* gang = gangs_.find(gangs.gangs[i]);
        launches[job_at(i)].pause.grace = cluster::grace_of(*gang);
    }
    store_.begin_with(lifecycle::snapshot(state), std::move(launches));
    controller_ = std::make_unique<control::Controller>(std::move(settings),
                                                        control::Ports{clock_, store_, binder_});
    jobs_ = std::make_unique<GangJobs>(GangJobs::Parts{*controller_, gangs_, strangers_, binder_,
                                                       [this](const Gang& gang, std::string& why) {
                                                           return project_of(gang, why);
                                                       }},
                                       timers_);
    for (std::size_t i = 0; i < gangs.gangs.size(); ++i) {
        jobs_->adopt(gangs.gangs[i], job_at(i), gangs.jobs[i].spec);
    }
    reasons_ = std::make_unique<WaitReasons>(requests_, timers_, clock_, *controller_, gangs_,
                                             budgets_, *jobs_);
    statuses_ = std::make_unique<Statuses>(requests_, timers_, clock_, *controller_, rights_);
    BERTH_TRY_VOID(controller_->recover());
    rights_.tell(*controller_);  // what a description does not say: the settings
    gangs_.touch_all();
    options_.log("decides: " + std::to_string(nodes_.size()) + " nodes, " +
                 std::to_string(controller_->state().cluster.projects().size() - 1) +
                 " projects, " + std::to_string(gangs.gangs.size()) + " known jobs");
    return {};
}

// Whatever people have declared and done, it begins: what cannot be described is left out, with the
// reason in the log. Pods that stand for no job then are strangers.
base::Result<lifecycle::State> Scheduler::first_state(cluster::Described& gangs) {
    auto state = lifecycle::from_description(described(gangs));
    if (state) return state;
    options_.log("begins without the jobs that exist: " + state.error().message);
    for (const Uid gang : std::exchange(gangs, {}).gangs) {
        for (const auto& [uid, pod] : gangs_.find(gang)->pods) {
            if (pod->is_bound()) strangers_.set(*pod);
        }
    }
    nodes_.tell_all();
    return lifecycle::from_description(described(gangs));
}

cluster::ProjectPools Scheduler::project_of(const Gang& gang, std::string& why) const {
    cluster::ProjectPools project = rights_.project_of(gang, why);
    if (const objects::DisruptionBudget* budget = budgets_.protector_of(gang))
        project.protected_since = budget->meta.created.value_or(base::TimePoint{});
    return project;
}

cluster::Described Scheduler::gangs_now(cluster::Strangers& strangers) const {
    const auto of_gang = [this](const Gang& gang) {
        std::string why;
        return project_of(gang, why);
    };
    return cluster::describe(gangs_, nodes_.reported(), of_gang, strangers, clock_.now());
}

model::Description Scheduler::described(const cluster::Described& gangs) const {
    model::Description description;
    description.now = clock_.now();
    description.as_listed = true;
    rights_.describe(description);
    for (const auto& [name, node] : nodes_.reported()) description.nodes.push_back(node);
    description.jobs = gangs.jobs;
    return description;
}

// Of what was true when the core decided and may not be so any more.
std::string Scheduler::why_not(const model::JobSpec& asks, const std::string& node) const {
    const auto reported = nodes_.reported().find(node);
    if (reported == nodes_.reported().end() || reported->second.health == model::NodeHealth::Down)
        return "node " + node + " is not ready";
    if (model::not_tolerated(reported->second.taints, asks.tolerations) != nullptr)
        return "node " + node + " accepts no more of its pods";
    return {};
}

void Scheduler::say_paused(model::JobId id) {
    const Gang* gang = jobs_->gang_of(id);
    const model::JobRecord* job = controller_->state().jobs.get(id);
    if (gang == nullptr || gang->workload == nullptr || job == nullptr || !job->last_pause) return;
    const Gang* beneficiary = jobs_->gang_of(job->last_pause->beneficiary);
    const std::string whom = beneficiary == nullptr ? "" : " for " + beneficiary->name();
    events_.say(subject_of(*gang->workload), "Paused",
                "its GPUs were taken" + whom + " (" +
                    std::string(codec::word(job->last_pause->rule)) + "); it resumes without help");
}

// A gang that moves has it in the patch that suspends it. A gang that grows needs none: what it has
// stays its own.
void Scheduler::note_promise(model::JobId id) {
    const Gang* gang = jobs_->gang_of(id);
    const model::JobRecord* job = controller_->state().jobs.get(id);
    if (gang == nullptr || gang->workload == nullptr || job == nullptr) return;
    if (job->reserved.empty() || !job->tasks.empty()) return;
    const objects::Workload& workload = *gang->workload;
    requests_.send(
        client::merge_patch({workload.path(), objects::format(workload.meta.uid), ""}, {},
                            {{std::string(objects::kPromise), objects::format(promise_of(*job))}}),
        [](const client::Outcome&) {});
}

objects::Promise Scheduler::promise_of(const model::JobRecord& job) const {
    std::vector<model::TaskPlacement> tasks = job.reserved;
    std::ranges::sort(tasks, {}, &model::TaskPlacement::task);
    const base::TimePoint now = clock_.now();
    objects::Promise promise{now, job.hold_deadline.value_or(now), {}};
    for (const model::TaskPlacement& task : tasks) {
        const std::string& node = controller_->state().cluster.node_name(task.node);
        if (promise.places.empty() || promise.places.back().node != node)
            promise.places.push_back({node, 0});
        ++promise.places.back().pods;
    }
    return promise;
}

void Scheduler::say_if_unknown(const objects::Pod& pod) {
    const objects::Owner& owner = *pod.meta.owner;
    if (owner.kind->empty() || objects::workload_that_is(owner) != nullptr) return;
    if (std::ranges::find(kMakesSinglePods, *owner.kind) != kMakesSinglePods.end()) return;
    events_.say_once({*owner.api_version, *owner.kind, *pod.meta.name_space, owner.name, owner.uid},
                     "UnknownKind",
                     "Berth does not know this kind: it places each of its pods alone");
}

client::Annotations Scheduler::notes_of(model::JobId id, bool is_suspended) const {
    const model::JobRecord* job = controller_->state().jobs.get(id);
    if (job == nullptr) return {};
    objects::History history;
    history.attained = base::Duration{lifecycle::attained_gpu_ms(*job, clock_.now())};
    history.lost = base::Duration{job->lost_gpu_ms};
    history.pauses = job->pauses;
    history.losses = job->losses;
    const objects::Receipt receipt = is_suspended ? receipt_for(*job) : receipt_after(*job);
    client::Annotations notes{{std::string(objects::kHistory), objects::format(history)},
                              {std::string(objects::kLastPause), objects::format(receipt)}};
    if (is_suspended && !job->reserved.empty())
        notes.emplace_back(objects::kPromise, objects::format(promise_of(*job)));
    return notes;
}

objects::Receipt Scheduler::receipt_for(const model::JobRecord& job) const {
    objects::Receipt receipt;
    receipt.priority = job.spec.priority;
    receipt.time = receipt.deadline = clock_.now();
    if (job.last_pause) {
        receipt.rule = codec::word(job.last_pause->rule);
        receipt.time = job.last_pause->time;
        receipt.deadline = job.last_pause->deadline;
        const auto beneficiary = jobs_->uid_of(job.last_pause->beneficiary);
        if (beneficiary) receipt.beneficiary = objects::format(*beneficiary);
    }
    return receipt;
}

// As the scheduler that paused it wrote it: the one that resumes it may not know for whom that was.
objects::Receipt Scheduler::receipt_after(const model::JobRecord& job) const {
    const Gang* gang = jobs_->gang_of(job.id);
    const auto written =
        gang == nullptr ? std::nullopt : objects::receipt_of(*gang->meta().annotations);
    objects::Receipt receipt = written ? *written : receipt_for(job);
    receipt.is_in_force = false;
    return receipt;
}

void Scheduler::say_if_refused(const std::string& what, const base::Status& done) {
    if (done) return;
    const std::string text = what + ": " + done.error().message;
    if (said_.insert(text).second) options_.log(text);
}

}  // namespace berth::kube::scheduler
