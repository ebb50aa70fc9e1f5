// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/scheduler.h"

#include <algorithm>
#include <utility>

#include "codec/words.h"
#include "kube/cluster/asks.h"
#include "kube/cluster/node_of.h"
#include "kube/cluster/receipts.h"
#include "lifecycle/describe.h"
#include "model/limits.h"

namespace berth::kube::scheduler {
namespace {

using cluster::Gang;

// What was refused is tried again so long after something changed that may help.
constexpr base::Duration kLookAgain = std::chrono::seconds(1);
// An empty list tells nobody that it has come.
constexpr base::Duration kSyncLook = std::chrono::milliseconds(20);
constexpr base::Duration kStaleLook = std::chrono::seconds(1);
const std::string kMachine{control::kMachine};

// The core numbers the jobs of a description in their order, from 1.
model::JobId job_at(std::size_t position) { return {static_cast<std::int64_t>(position) + 1}; }

model::PolicyChanges settings_of(const objects::DeclaredPolicy& policy) {
    return policy.problem.empty() ? policy.settings : model::PolicyChanges{};
}

}  // namespace

Scheduler::Scheduler(client::Requests& requests, client::Timers& timers, const ports::Clock& clock,
                     Options options)
    : requests_(requests),
      timers_(timers),
      clock_(clock),
      options_(std::move(options)),
      watches_(requests, timers, told(), options_.seed),
      gangs_(options_.name),
      binder_(
          requests, timers,
          [this](model::JobId job) { return jobs_ ? jobs_->gang_of(job) : nullptr; },
          [this](model::JobId job, bool is_suspended) { return notes_of(job, is_suspended); },
          [this](model::JobId job, const objects::Pod& pod, const std::string& node) {
              return why_not(job, pod, node);
          }),
      turn_(timers),
      look_again_(timers) {}

Told Scheduler::told() {
    Told told;
    told.node = [this](const objects::Node* before, const objects::Node* now) {
        const std::string& name = (now != nullptr ? now : before)->meta.name;
        if (now != nullptr) {
            nodes_[name] = *now;
        } else {
            nodes_.erase(name);
        }
        changed_nodes_.insert(name);
        touch();
    };
    told.pod = [this](const objects::Pod* before, const objects::Pod* now) {
        const objects::Pod& pod = now != nullptr ? *now : *before;
        if (gangs_.are_ours(pod)) {
            if (now != nullptr) count_resources(*now->ask);
            gangs_.take(before, now);
        } else if (now != nullptr && now->is_bound()) {
            strangers_.set(*now);
        } else {
            strangers_.clear(pod.meta.uid);
        }
        touch();
    };
    told.job = [this](const objects::Job* before, const objects::Job* now) {
        if (now != nullptr && now->is_suspended) count_resources(*now->ask);
        gangs_.take(before, now);
        touch();
    };
    told.name_space = [this](const Namespace* before, const Namespace* now) {
        const std::string& name = (now != nullptr ? now : before)->meta.name;
        const objects::Labels* labels = now != nullptr ? &*now->meta.labels : nullptr;
        if (namespaces_.set_namespace(name, labels)) {
            gangs_.touch(name);
            may_help_refused_ = true;
        }
        touch();
    };
    const auto declared = [this](const auto* before, const auto* now) {
        declarations_.take(before, now);
        touch();
    };
    told.project = [this, declared](const objects::DeclaredProject* before,
                                    const objects::DeclaredProject* now) {
        const std::string& name = (now != nullptr ? now : before)->meta.name;
        namespaces_.set_listed(name, now != nullptr ? now->namespaces : std::vector<std::string>{});
        declared(before, now);
    };
    told.pool = declared;
    told.policy = declared;
    return told;
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
    // By what may have been half a minute ago nobody is placed, and nobody paused.
    if (watches_.are_stale()) return touch(kStaleLook);
    tell_declarations();
    for (const Uid gang : gangs_.take_changed()) {
        jobs_->review(gang);
        reasons_->look_at(gang);
    }
    tell_nodes();
    controller_->step();
    for (const model::JobFinished& end : std::exchange(ended_, {})) jobs_->ended(end);
    for (const model::JobId job : std::exchange(paused_, {})) {
        if (const auto gang = jobs_->uid_of(job)) jobs_->review(*gang);
    }
    if (controller_->has_failed()) failure_ = controller_->failure();
    if (may_help_refused_ && !look_again_.is_running()) {
        may_help_refused_ = false;
        look_again_.start(kLookAgain, [this] {
            jobs_->forget_refusals();
            touch();
        });
    }
    if (const auto deadline = controller_->next_deadline())
        touch(std::max(*deadline - clock_.now(), base::Duration{0}));
}

base::Status Scheduler::begin() {
    for (const auto& [name, node] : nodes_) {
        model::Node now = node_now(node);
        const base::Status sound = model::check_limits(now);
        say_if_refused("node " + name, sound);
        if (sound) told_nodes_[name] = std::move(now);
    }
    for (const model::Project& project : declarations_.projects().sound)
        projects_[project.name] = project;
    for (const model::Pool& pool : declarations_.pools()) pools_[pool.name] = pool;
    declarations_.take_changed();
    cluster::Described gangs = cluster::describe(
        gangs_, told_nodes_,
        [this](const Gang& gang) {
            std::string why;
            return project_of(gang, why);
        },
        strangers_, clock_.now());
    BERTH_TRY(state, first_state(gangs));
    const std::string profile = declarations_.policy().profile;
    BERTH_TRY(policy, model::policy_named(profile.empty() ? "berth" : profile));
    control::Settings settings{.policy = policy};
    settings.snapshot_events = INT64_MAX / 2;
    settings.wake = [this](base::Duration within) { touch(within); };
    settings.committed = [this](std::span<const model::Event> events) {
        for (const model::Event& event : events) {
            const auto* finished = std::get_if<model::JobFinished>(&event.body);
            if (finished != nullptr) ended_.push_back(*finished);
            const auto* paused = std::get_if<model::JobPaused>(&event.body);
            if (paused != nullptr) paused_.push_back(paused->job);
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
    reasons_ =
        std::make_unique<WaitReasons>(requests_, timers_, clock_, *controller_, gangs_, *jobs_);
    statuses_ = std::make_unique<Statuses>(requests_, timers_, *controller_, declarations_);
    BERTH_TRY_VOID(controller_->recover());
    gangs_.touch_all();
    options_.log("decides: " + std::to_string(nodes_.size()) + " nodes, " +
                 std::to_string(projects_.size()) + " projects, " +
                 std::to_string(gangs.gangs.size()) + " jobs that were there");
    return {};
}

// Whatever people have declared and done, it begins: what cannot be described is left out, with the
// reason in the log. Pods that stand for no job then are strangers.
base::Result<lifecycle::State> Scheduler::first_state(cluster::Described& gangs) {
    auto state = lifecycle::from_description(described(gangs));
    if (state) return state;
    options_.log("begins without the jobs that are there: " + state.error().message);
    for (const Uid gang : std::exchange(gangs, {}).gangs) {
        for (const auto& [uid, pod] : gangs_.find(gang)->pods) {
            if (pod->is_bound()) strangers_.set(*pod);
        }
    }
    for (const auto& [name, node] : nodes_) {
        if (told_nodes_.contains(name)) told_nodes_[name] = node_now(node);
    }
    return lifecycle::from_description(described(gangs));
}

model::Levels Scheduler::levels_now() const {
    const model::Levels& said = declarations_.policy().levels;
    return said.empty() ? model::default_levels() : said;
}

model::Description Scheduler::described(cluster::Described& gangs) {
    model::Description description;
    description.now = clock_.now();
    description.as_listed = true;
    description.policy = settings_of(declarations_.policy());
    description.levels = levels_now();
    description.pools = declarations_.pools();
    for (const auto& [name, node] : told_nodes_) description.nodes.push_back(node);
    description.projects = declarations_.projects().sound;
    description.jobs = gangs.jobs;
    return description;
}

// --- what changed, for the core

void Scheduler::tell_nodes() {
    for (const std::string& name : strangers_.take_changed()) changed_nodes_.insert(name);
    for (const std::string& name : std::exchange(changed_nodes_, {})) {
        const auto found = nodes_.find(name);
        const auto told = told_nodes_.find(name);
        model::Node now;
        if (found != nodes_.end()) {
            now = node_now(found->second);
        } else if (told != told_nodes_.end()) {
            now = told->second;
            now.health = model::NodeHealth::Down;  // it is gone
        } else {
            continue;
        }
        if (told != told_nodes_.end() && told->second == now) continue;
        may_help_refused_ = true;
        const auto done = [this, name](const base::Status& told_so) {
            say_if_refused("node " + name, told_so);
        };
        model::Node before = told != told_nodes_.end() ? told->second : model::Node{};
        before.others = now.others;
        if (before == now) {
            controller_->set_others(name, now.others, kMachine, done);
        } else {
            controller_->set_node(now, kMachine, done);
        }
        told_nodes_[name] = std::move(now);
    }
}

// The core has room for a few names: those that somebody asks for. Who asks for one more waits for
// a node that has it, and is told so.
void Scheduler::count_resources(const objects::PodAsk& ask) {
    for (const objects::Amount& amount : ask.requests.all()) {
        const std::string& name = *amount.resource;
        if (cluster::has_a_field(name) || counted_.size() >= model::kResourcesMax) continue;
        if (!counted_.insert(name).second) continue;
        for (const auto& [node, each] : nodes_) changed_nodes_.insert(node);
    }
}

// With what others use of it; a GPU that it offers no more, but had, is as good as theirs.
model::Node Scheduler::node_now(const objects::Node& node) const {
    model::Node now = cluster::node_of(node, counted_);
    const model::Levels levels = levels_now();
    std::erase_if(now.topology, [&](const auto& each) {
        return std::ranges::find(levels, each.first) == levels.end();
    });
    const objects::Amounts& others = strangers_.on(now.name);
    now.others.cpu = others.cpu();
    now.others.memory = others.memory();
    now.others.resources = cluster::resources_of(others, counted_);
    const int pods = strangers_.pods_on(now.name);
    if (pods > 0) now.others.resources[model::kPodsResource] = pods;
    std::erase_if(now.others.resources,
                  [&](const auto& each) { return !now.resources.contains(each.first); });
    std::int64_t gone = others.of(cluster::kGpuResource);
    const auto told = told_nodes_.find(now.name);
    if (told != told_nodes_.end() && told->second.gpus > now.gpus) {
        gone += told->second.gpus - now.gpus;
        now.gpus = told->second.gpus;
    }
    now.others.gpus = static_cast<int>(std::min<std::int64_t>(gone, now.gpus));
    return now;
}

void Scheduler::tell_declarations() {
    if (!declarations_.take_changed()) return;
    may_help_refused_ = true;
    gangs_.touch_all();
    const auto tell = [this](const std::string& what) {
        return [this, what](const base::Status& done) { say_if_refused(what, done); };
    };
    const Declarations::Projects declared = declarations_.projects();
    for (const auto& [name, problem] : declared.problems) {
        if (said_.insert(name + problem).second) options_.log("project " + name + ": " + problem);
    }
    std::map<std::string, model::Pool> pools;
    for (const model::Pool& pool : declarations_.pools()) {
        pools[pool.name] = pool;
        if (!pools_.contains(pool.name) || pools_.at(pool.name) != pool)
            controller_->set_pool(pool, kMachine, tell("pool " + pool.name));
    }
    std::map<std::string, model::Project> projects;
    for (const model::Project& project : declared.sound) {
        projects[project.name] = project;
        if (!projects_.contains(project.name) || projects_.at(project.name) != project)
            controller_->set_project(project, kMachine, tell("project " + project.name));
    }
    // Children before parents.
    for (auto at = projects_.rbegin(); at != projects_.rend(); ++at) {
        if (!projects.contains(at->first))
            controller_->remove_project(at->first, kMachine, tell("project " + at->first));
    }
    for (const auto& [name, pool] : pools_) {
        if (!pools.contains(name)) controller_->remove_pool(name, kMachine, tell("pool " + name));
    }
    pools_ = std::move(pools);
    projects_ = std::move(projects);
    model::PolicyChanges changes = settings_of(declarations_.policy());
    for (const auto& [setting, text] : controller_->state().policy) {
        changes.try_emplace(setting, std::nullopt);  // as the profile says again
    }
    controller_->set_policy(std::move(changes), kMachine, tell("policy"));
    if (!declarations_.policy().levels.empty())
        controller_->set_levels(declarations_.policy().levels, tell("levels"));
}

cluster::ProjectPools Scheduler::project_of(const Gang& gang, std::string& why) const {
    const std::string project = namespaces_.project_of(gang.meta());
    if (project.empty()) {
        why = "namespace " + *gang.meta().name_space +
              " is in no project: label it berth.dev/project=NAME, or list it in a Project";
        return {};
    }
    const auto is_below = [&](const auto& each) { return each.second.parent == project; };
    if (std::ranges::any_of(projects_, is_below)) {
        why = "project " + project + " has projects below it: name one of those";
        return {};
    }
    const auto found = projects_.find(project);
    if (found != projects_.end()) return {project, pools_of(found->second)};
    why = "project " + project + " is not there: kubectl get projects shows those that are";
    return {};
}

// Those in which it has rights of its own, and the default one.
std::vector<std::string> Scheduler::pools_of(const model::Project& project) const {
    std::vector<std::string> pools;
    for (const auto& [pool, rights] : project.pools) {
        if (pools_.contains(pool) && pools.size() + 1 < model::kPoolsOfJobMax)
            pools.push_back(pool);
    }
    if (!pools.empty()) pools.push_back(model::kDefaultPool);
    return pools;
}

// Of what was true when the core decided and may not be so any more.
std::string Scheduler::why_not(model::JobId job, const objects::Pod& pod,
                               const std::string& node) const {
    const auto told = told_nodes_.find(node);
    if (told == told_nodes_.end() || told->second.health == model::NodeHealth::Down)
        return "node " + node + " is not ready";
    const auto spec = cluster::spec_of(*pod.ask);
    if (spec && model::not_tolerated(told->second.taints, spec->tolerations) != nullptr)
        return "node " + node + " takes no more of its pods";
    if (!spec || !jobs_->asks_as_taken(job, *spec)) return "its pods ask for something else now";
    return {};
}

client::Annotations Scheduler::notes_of(model::JobId id, bool is_suspended) const {
    const model::JobRecord* job = controller_->state().jobs.get(id);
    if (job == nullptr) return {};
    cluster::History history;
    history.attained = base::Duration{lifecycle::attained_gpu_ms(*job, clock_.now())};
    history.lost = base::Duration{job->lost_gpu_ms};
    history.pauses = job->pauses;
    history.losses = job->losses;
    cluster::Receipt receipt;
    receipt.is_in_force = is_suspended;
    receipt.priority = job->spec.priority;
    receipt.time = receipt.deadline = clock_.now();
    if (job->last_pause) {
        receipt.rule = codec::word(job->last_pause->rule);
        receipt.time = job->last_pause->time;
        receipt.deadline = job->last_pause->deadline;
        const auto beneficiary = jobs_->uid_of(job->last_pause->beneficiary);
        if (beneficiary) receipt.beneficiary = objects::format(*beneficiary);
    }
    return {{std::string(cluster::kHistory), cluster::format(history)},
            {std::string(cluster::kLastPause), cluster::format(receipt)}};
}

void Scheduler::say_if_refused(const std::string& what, const base::Status& done) {
    if (done) return;
    const std::string text = what + ": " + done.error().message;
    if (said_.insert(text).second) options_.log(text);
}

}  // namespace berth::kube::scheduler
