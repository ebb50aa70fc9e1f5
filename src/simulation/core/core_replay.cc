// SPDX-License-Identifier: Apache-2.0
#include "simulation/core/core_replay.h"

#include <algorithm>
#include <numeric>
#include <queue>

#include "base/check.h"
#include "lifecycle/describe.h"
#include "lifecycle/plan_events.h"
#include "scheduling/decide.h"
#include "scheduling/explain/explain.h"
#include "simulation/core/live_job.h"

namespace berth::simulation {
namespace {

using base::Result;
using lifecycle::State;
using model::JobId;
using reference::JobIndex;

constexpr const char* kOwner = "all";
// A replay that decides so often for each job is not going to end.
constexpr std::int64_t kDecisionsPerJobMax = 10'000;

JobId id_of(JobIndex ticket) { return JobId{ticket + 1}; }
JobIndex ticket_of(JobId id) { return static_cast<JobIndex>(id.value - 1); }

tl::unexpected<base::Error> too_many_decisions(std::int64_t decisions, std::size_t jobs_left) {
    return base::fail(base::ErrorCode::Exhausted,
                      std::to_string(decisions) + " decisions, " +
                          std::to_string(kDecisionsPerJobMax) + " for each job, and " +
                          std::to_string(jobs_left) +
                          " jobs have not ended; jobs pause each other without end");
}

// Of the first job that has not ended. Nothing happens any more, so that nothing runs.
template <typename Explain>
std::string why_first_waits(const Replay& replay, const Trace& trace, Explain explain) {
    const auto first = std::ranges::find_if(
        replay.jobs, [](const JobRecord& job) { return !job.end.has_value(); });
    const auto ticket = static_cast<JobIndex>(first - replay.jobs.begin());
    const TimePoint submitted = trace[static_cast<std::size_t>(ticket)].submitted;
    return "job " + std::to_string(ticket + 1) + ", submitted at " +
           base::format(submitted.time_since_epoch()) + ": " +
           scheduling::explain_text(explain(id_of(ticket)));
}

std::vector<JobId> jobs_on(const State& state, const std::string& name) {
    const auto node = state.cluster.find_node(name);
    std::vector<JobId> there;
    for (const auto& [id, record] : state.jobs) {
        const bool is_there =
            std::ranges::any_of(record.tasks, [&](const auto& task) { return task.node == node; });
        if (is_there) there.push_back(id);
    }
    return there;
}

int node_size(const cluster::Cluster& cluster, const TraceJob& job) {
    const std::string pool = job.pool.empty() ? model::kDefaultPool : job.pool;
    return cluster.pool(cluster.find_pool(pool)).gpus_per_node_max;
}

}  // namespace

class CorePlayer {
  public:
    CorePlayer(const CoreExperiment& experiment, State state)
        : experiment_(experiment),
          policy_(experiment.policy),
          state_(std::move(state)),
          jobs_(experiment.trace.size()) {
        result_.replay.jobs.resize(jobs_.size());
        gpus_.number(state_.cluster.nodes());
        follow_policy();
    }

    Result<bool> go_on(std::int64_t decisions, const OnProgress& on_progress) {
        const auto most = kDecisionsPerJobMax * static_cast<std::int64_t>(jobs_.size() + 1);
        const std::int64_t until = result_.decisions + decisions;
        while (result_.decisions < until) {
            const auto next = next_moment();
            if (!next) return true;
            now_ = *next;
            close_ledger();
            change_cluster();
            BERTH_TRY_VOID(submit_due());
            happen_due();
            decide();
            remember();
            if (result_.decisions >= most)
                return too_many_decisions(result_.decisions, jobs_.size() - finished_);
            if (on_progress) on_progress({finished_, now_});
        }
        return false;
    }

    std::size_t finished() const { return finished_; }
    CoreReplay take() {
        if (finished_ < jobs_.size()) {
            const model::Plan plan = scheduling::decide(state_.cluster, policy_, now_, memory_);
            result_.why_unfinished =
                why_first_waits(result_.replay, experiment_.trace, [&](JobId id) {
                    return scheduling::explain(state_.cluster, policy_, plan, now_, id);
                });
        }
        result_.ended = state_.time;
        if (!is_ledger_closed_) {
            result_.ledger = state_.ledger.book(experiment_.ledger_until.value_or(state_.time));
        }
        return std::move(result_);
    }

  private:
    const TraceJob& job(JobIndex ticket) const {
        return experiment_.trace[static_cast<std::size_t>(ticket)];
    }
    LiveJob& live(JobIndex ticket) { return jobs_[static_cast<std::size_t>(ticket)]; }
    JobRecord& record(JobIndex ticket) {
        return result_.replay.jobs[static_cast<std::size_t>(ticket)];
    }

    void happen(model::EventBody body) {
        ++result_.replay.events;
        lifecycle::apply(state_, {state_.sequence + 1, now_, "simulation", std::move(body)});
    }

    // Nothing when nothing can happen any more: a wake-up alone starts no job on an empty cluster
    // unless something is promised.
    std::optional<TimePoint> next_moment() {
        std::optional<TimePoint> next;
        if (is_changed_) return now_;
        const auto consider = [&](TimePoint at) { next = std::min(next.value_or(at), at); };
        while (!due_.empty() && due_.top().turn != live(due_.top().job).turn) due_.pop();
        if (!due_.empty()) consider(due_.top().at);
        if (submitted_ < jobs_.size()) consider(experiment_.trace[submitted_].submitted);
        if (finished_ < jobs_.size() && changed_ < experiment_.changes.size()) {
            consider(experiment_.changes[changed_].at);
        }
        if (wake_up_ && (next || !state_.cluster.reserved_jobs().empty())) consider(*wake_up_);
        return next;
    }

    void close_ledger() {
        if (is_ledger_closed_ || !experiment_.ledger_until || now_ < *experiment_.ledger_until) {
            return;
        }
        is_ledger_closed_ = true;
        result_.ledger = state_.ledger.book(*experiment_.ledger_until);
    }

    void change_cluster() {
        for (; changed_ < experiment_.changes.size(); ++changed_) {
            const ClusterChange& change = experiment_.changes[changed_];
            if (change.at > now_) return;
            if (!lifecycle::check(state_, change.body)) {
                ++result_.changes_passed_over;
                continue;
            }
            is_changed_ = true;
            happen(change.body);
            gpus_.number(state_.cluster.nodes());
            if (std::holds_alternative<model::PolicySet>(change.body)) follow_policy();
            if (const auto* set = std::get_if<model::NodeSet>(&change.body)) {
                if (set->node.health == model::NodeHealth::Down) lose_jobs_of(set->node.name);
            }
        }
    }

    void lose_jobs_of(const std::string& name) {
        for (const JobId id : jobs_on(state_, name)) {
            stop(ticket_of(id));
            happen(model::AttemptLost{id, {}});
            ++waiting_;
        }
    }

    // What people have set, on top of how it was started.
    void follow_policy() {
        if (auto policy = model::changed_policy(experiment_.policy, state_.policy)) {
            policy_ = std::move(*policy);
        }
        memory_.forget();
    }

    base::Status submit_due() {
        for (; submitted_ < jobs_.size(); ++submitted_) {
            const TraceJob& next = experiment_.trace[submitted_];
            if (next.submitted > now_) return {};
            const auto ticket = static_cast<JobIndex>(submitted_);
            live(ticket).left = next.work;
            const model::JobSubmitted submitted{
                id_of(ticket), spec_of(next, node_size(state_.cluster, next), experiment_),
                next.user, next.command};
            if (const auto possible = lifecycle::check(state_, submitted); !possible) {
                return base::invalid("job " + std::to_string(submitted_ + 1) +
                                     " of the trace: " + possible.error().message);
            }
            happen(submitted);
            ++waiting_;
            is_changed_ = true;
        }
        return {};
    }

    void happen_due() {
        while (!due_.empty() && due_.top().at <= now_) {
            const Due one = due_.top();
            due_.pop();
            if (one.turn != live(one.job).turn) continue;
            is_changed_ = true;
            stop(one.job);
            if (one.what == Due::What::Left) {
                happen(model::JobPaused{id_of(one.job), true});
                ++waiting_;
            } else {
                happen(model::JobFinished{id_of(one.job), model::JobState::Succeeded, 0, {}});
                record(one.job).end = now_;
                ++finished_;
            }
        }
    }

    // It leaves its GPUs.
    void stop(JobIndex ticket) {
        LiveJob& one = live(ticket);
        const TimePoint asked = one.runs ? now_ : one.asked;
        Replay& replay = result_.replay;
        replay.intervals.push_back({ticket, one.since, now_, replay.gpus.size()});
        result_.asked.push_back(asked);
        for (const model::TaskPlacement& task : state_.jobs.at(id_of(ticket)).tasks) {
            gpus_.add_to(result_.replay.gpus, task);
        }
        gpus_used_ -= job(ticket).amount();
        one.left -= std::max(asked - one.since - one.restart, Duration{});
        record(ticket).held += now_ - one.since;
        one.runs = false;
        ++one.turn;
    }

    void decide() {
        const bool is_woken = wake_up_ && *wake_up_ <= now_;
        if (!is_changed_ && !is_woken) return;
        is_changed_ = false;
        ++result_.decisions;
        const model::Plan plan = scheduling::decide(state_.cluster, policy_, now_, memory_);
        wake_up_ = plan.next_wakeup;
        // One that is due already would stop the clock.
        if (wake_up_) wake_up_ = std::max(*wake_up_, now_ + Duration{1});
        for (model::EventBody& event : lifecycle::events_of(state_, plan, policy_, now_)) {
            carry_out(std::move(event));
        }
    }

    void carry_out(model::EventBody event) {
        if (const auto* pause = std::get_if<model::PauseRequested>(&event)) {
            // Two jobs can each need a part of the same victim; it is asked once.
            if (state_.jobs.at(pause->job).state == model::JobState::Pausing) return;
            BERTH_CHECK(pause->whole_job, "no job of a trace can spare a task");
            const JobIndex ticket = ticket_of(pause->job);
            if (pause->rule == model::Rule::Consolidate) ++record(ticket).moves;
            happen(std::move(event));
            ask_to_leave(ticket);
        } else if (const auto* starting = std::get_if<model::JobStarting>(&event)) {
            const JobId id = starting->job;
            happen(std::move(event));
            happen(model::JobRunning{id});
            start(ticket_of(id));
        } else {
            // As in the server: what was promised may go to others now.
            is_changed_ |= std::holds_alternative<model::ReservationDropped>(event);
            happen(std::move(event));
        }
    }

    void ask_to_leave(JobIndex ticket) {
        LiveJob& one = live(ticket);
        one.runs = false;
        one.asked = now_;
        due_.push({now_ + experiment_.save_time, ticket, ++one.turn, Due::What::Left});
        ++record(ticket).pauses;
    }

    void start(JobIndex ticket) {
        LiveJob& one = live(ticket);
        const Duration restart = state_.jobs.at(id_of(ticket)).spec.restart_cost;
        one.restart = record(ticket).first_start ? restart : Duration{};
        if (!record(ticket).first_start) record(ticket).first_start = now_;
        one.runs = true;
        one.since = now_;
        due_.push({now_ + one.restart + one.left, ticket, ++one.turn, Due::What::End});
        gpus_used_ += job(ticket).amount();
        --waiting_;
    }

    void remember() { result_.replay.timeline.push_back({now_, gpus_used_, waiting_}); }

    const CoreExperiment& experiment_;
    model::Policy policy_;
    State state_;
    scheduling::DecisionCache memory_;
    std::vector<LiveJob> jobs_;
    GpuNumbers gpus_;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
    std::size_t submitted_ = 0;
    std::size_t changed_ = 0;
    bool is_ledger_closed_ = false;
    std::size_t finished_ = 0;
    std::int32_t waiting_ = 0;
    base::MilliGpu gpus_used_{0};
    std::optional<TimePoint> wake_up_;
    bool is_changed_ = false;
    TimePoint now_;
    CoreReplay result_;
};

namespace {

// The only project that may have jobs; nothing when there are several.
std::optional<std::string> only_project(const cluster::Cluster& cluster) {
    std::optional<std::string> only;
    for (std::size_t i = 1; i < cluster.projects().size(); ++i) {
        if (!cluster.is_leaf({static_cast<base::ProjectId::Rep>(i)})) continue;
        if (only) return std::nullopt;
        only = cluster.projects()[i].project.name;
    }
    return only;
}

// What is wrong with it in this cluster; empty when nothing is.
std::string complaint_about(const TraceJob& job, const cluster::Cluster& cluster) {
    const auto project = cluster.find_project(job.project);
    if (job.project.empty()) return "names no project, and the cluster has not exactly one";
    if (!project.is_valid()) {
        return "project \"" + job.project +
               "\" is not in the cluster; add it there, or keep to one with --project";
    }
    if (!cluster.is_leaf(project)) {
        return "\"" + job.project + "\" is a department; name one of the projects below it";
    }
    if (!job.pool.empty() && !cluster.find_pool(job.pool).is_valid()) {
        return "pool \"" + job.pool + "\" is not in the cluster; add it there";
    }
    return "";
}

}  // namespace

model::JobSpec spec_of(const TraceJob& job, int gpus_per_node, const CoreExperiment& experiment) {
    if (job.spec) return *job.spec;
    model::JobSpec spec;
    spec.name = job.name;
    spec.project = job.project;
    spec.kind = job.kind;
    spec.priority = model::default_priority(job.kind);
    spec.preemptible = spec.priority < model::kNotPreemptibleFrom;
    if (!job.pool.empty()) spec.pools = {job.pool};
    spec.restart_cost = experiment.restart_cost;
    const bool is_by_nodes = experiment.placement == Placement::Nodes;
    spec.request.gpus = is_by_nodes ? std::gcd(job.gpus, std::max(gpus_per_node, 1)) : 1;
    if (is_by_nodes && job.gpus <= gpus_per_node) spec.request.gpus = job.gpus;
    spec.tasks_min = spec.tasks_max = job.gpus / spec.request.gpus;
    spec.request.share = job.share;
    return spec;
}

Experiment CoreExperiment::plain() const {
    return {trace, machines_of(cluster), placement, restart_cost + save_time};
}

Machines machines_of(const model::Description& cluster) {
    NodesAlike nodes{0, 0};
    std::int32_t all = 0;
    bool are_alike = true;
    for (const model::Node& node : cluster.nodes) {
        if (node.health != model::NodeHealth::Ready || node.gpus == 0) continue;
        all += node.gpus;
        are_alike = are_alike && (nodes.nodes == 0 || node.gpus == nodes.gpus_per_node);
        nodes = {nodes.nodes + 1, node.gpus};
    }
    return are_alike ? Machines({nodes}) : Machines{1, all};
}

model::Description owned_by_one(const Machines& machines) {
    const NodesAlike& alike = machines.models().front();
    model::Description cluster;
    for (std::int32_t i = 0; i < alike.nodes; ++i) {
        model::Node node;
        node.name = "n" + std::to_string(i);
        node.gpus = alike.gpus_per_node;
        node.gpu_model = alike.model;
        cluster.nodes.push_back(std::move(node));
    }
    model::Project owner;
    owner.name = kOwner;
    owner.rights.quota = base::MilliGpu{INT64_C(1000) * alike.gpus()};
    cluster.projects.push_back(std::move(owner));
    return cluster;
}

Trace of_one_project(Trace trace) {
    for (TraceJob& job : trace) {
        if (!job.project.empty()) job.user = job.project + "/" + job.user;
        job.project = kOwner;
        job.pool.clear();
    }
    return trace;
}

Result<Trace> trace_for(const Trace& trace, const model::Description& cluster) {
    if (!cluster.jobs.empty()) {
        return base::invalid(
            "the cluster has jobs of its own; those of the trace are replayed, "
            "leave \"jobs\" out");
    }
    BERTH_TRY(state, lifecycle::from_description(cluster));
    const auto only = only_project(state.cluster);
    Trace taken = trace;
    for (std::size_t number = 0; number < taken.size(); ++number) {
        TraceJob& job = taken[number];
        if (job.project.empty() && only) job.project = *only;
        if (const std::string what = complaint_about(job, state.cluster); !what.empty()) {
            return base::invalid("job " + std::to_string(number + 1) + ", submitted at " +
                                 base::format(job.submitted.time_since_epoch()) + ": " + what);
        }
    }
    return taken;
}

CoreRun::CoreRun(const CoreExperiment& experiment, State state)
    : player_(std::make_unique<CorePlayer>(experiment, std::move(state))) {}
CoreRun::CoreRun(CoreRun&&) noexcept = default;
CoreRun::~CoreRun() = default;

Result<bool> CoreRun::go_on(std::int64_t decisions, const OnProgress& on_progress) {
    return player_->go_on(decisions, on_progress);
}
std::size_t CoreRun::finished() const { return player_->finished(); }
CoreReplay CoreRun::take() { return player_->take(); }

Result<CoreReplay> replay(const CoreExperiment& experiment, const OnProgress& on_progress) {
    if (experiment.save_time > experiment.policy.pause_grace) {
        return base::invalid("a pause takes " + base::format(experiment.save_time) +
                             ", more than its grace of " +
                             base::format(experiment.policy.pause_grace) +
                             "; work would be lost, which is not simulated");
    }
    BERTH_TRY(state, lifecycle::from_description(experiment.cluster));
    CoreRun run(experiment, std::move(state));
    BERTH_TRY_VOID(run.go_on(INT64_MAX / 2, on_progress));
    return run.take();
}

}  // namespace berth::simulation
