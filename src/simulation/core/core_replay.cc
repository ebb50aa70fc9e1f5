// SPDX-License-Identifier: Apache-2.0
#include "simulation/core/core_replay.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <queue>
#include <tuple>

#include "base/check.h"
#include "lifecycle/describe.h"
#include "lifecycle/plan_events.h"
#include "scheduling/decide.h"
#include "scheduling/explain/explain.h"

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

// A job that was submitted and has not ended.
struct LiveJob {
    bool runs = false;
    TimePoint since;  // of this interval
    TimePoint asked;  // to leave
    Duration restart{};  // what this interval begins with
    Duration left{};  // work, at `since`
    int turn = 0;  // intervals and requests to leave, so that what was foreseen earlier is void
};

class CorePlayer {
  public:
    CorePlayer(const CoreExperiment& experiment, State state)
        : experiment_(experiment), state_(std::move(state)), jobs_(experiment.trace.size()) {
        result_.replay.jobs.resize(jobs_.size());
        std::int32_t first = 0;
        for (const cluster::NodeState& node : state_.cluster.nodes()) {
            first_gpus_.push_back(first);
            if (node.health == model::NodeHealth::Ready) first += node.gpus;
        }
    }

    Result<CoreReplay> play(const OnProgress& on_progress) {
        const auto most = kDecisionsPerJobMax * static_cast<std::int64_t>(jobs_.size() + 1);
        while (const auto next = next_moment()) {
            now_ = *next;
            BERTH_TRY_VOID(submit_due());
            happen_due();
            decide();
            remember();
            if (result_.decisions >= most) return too_many_decisions();
            if (on_progress) on_progress({finished_, now_});
        }
        if (finished_ < jobs_.size()) result_.why_unfinished = why_first_waits();
        result_.ended = state_.time;
        result_.ledger = state_.ledger.book();
        return std::move(result_);
    }

  private:
    // Nothing happens any more, so that nothing runs.
    std::string why_first_waits() {
        const auto first = std::ranges::find_if(
            result_.replay.jobs, [](const JobRecord& job) { return !job.end.has_value(); });
        const auto ticket = static_cast<JobIndex>(first - result_.replay.jobs.begin());
        const model::Plan plan =
            scheduling::decide(state_.cluster, experiment_.policy, now_, memory_);
        const model::Verdict verdict =
            scheduling::explain(state_.cluster, experiment_.policy, plan, now_, id_of(ticket));
        return "job " + std::to_string(ticket + 1) + ", submitted at " +
               base::format(job(ticket).submitted.time_since_epoch()) + ": " +
               scheduling::explain_text(verdict);
    }

    tl::unexpected<base::Error> too_many_decisions() const {
        return base::fail(base::ErrorCode::Exhausted,
                          std::to_string(result_.decisions) + " decisions, " +
                              std::to_string(kDecisionsPerJobMax) + " for each job, and " +
                              std::to_string(jobs_.size() - finished_) +
                              " jobs have not ended; jobs pause each other without end");
    }

    enum class What { End, Left };
    struct Due {
        TimePoint at;
        JobIndex job = 0;
        int turn = 0;
        What what = What::End;

        bool operator>(const Due& other) const {
            return std::tie(at, job) > std::tie(other.at, other.job);
        }
    };

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
        if (wake_up_ && (next || !state_.cluster.reserved_jobs().empty())) consider(*wake_up_);
        return next;
    }

    base::Status submit_due() {
        for (; submitted_ < jobs_.size(); ++submitted_) {
            const TraceJob& next = experiment_.trace[submitted_];
            if (next.submitted > now_) return {};
            const auto ticket = static_cast<JobIndex>(submitted_);
            live(ticket).left = next.work;
            const model::JobSubmitted submitted{id_of(ticket),
                                                spec_of(next, node_size(next), experiment_),
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

    int node_size(const TraceJob& job) const {
        const std::string& pool = job.pool.empty() ? kDefaultPool : job.pool;
        return state_.cluster.pool(state_.cluster.find_pool(pool)).gpus_per_node_max;
    }

    void happen_due() {
        while (!due_.empty() && due_.top().at <= now_) {
            const Due one = due_.top();
            due_.pop();
            if (one.turn != live(one.job).turn) continue;
            is_changed_ = true;
            stop(one.job);
            if (one.what == What::Left) {
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
            add_gpus(task);
        }
        gpus_used_ -= job(ticket).amount();
        one.left -= std::max(asked - one.since - one.restart, Duration{});
        record(ticket).held += now_ - one.since;
        one.runs = false;
        ++one.turn;
    }

    void add_gpus(const model::TaskPlacement& task) {
        for (std::uint64_t mask = task.gpu_mask; mask != 0; mask &= mask - 1) {
            result_.replay.gpus.push_back(first_gpus_[task.node.index()] + std::countr_zero(mask));
        }
    }

    void decide() {
        const bool is_woken = wake_up_ && *wake_up_ <= now_;
        if (!is_changed_ && !is_woken) return;
        is_changed_ = false;
        ++result_.decisions;
        const model::Plan plan =
            scheduling::decide(state_.cluster, experiment_.policy, now_, memory_);
        wake_up_ = plan.next_wakeup;
        // One that is due already would stop the clock.
        if (wake_up_) wake_up_ = std::max(*wake_up_, now_ + Duration{1});
        for (model::EventBody& event :
             lifecycle::events_of(state_, plan, experiment_.policy, now_)) {
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
        due_.push({now_ + experiment_.save_time, ticket, ++one.turn, What::Left});
        ++record(ticket).pauses;
    }

    void start(JobIndex ticket) {
        LiveJob& one = live(ticket);
        one.restart = record(ticket).first_start ? experiment_.restart_cost : Duration{};
        if (!record(ticket).first_start) record(ticket).first_start = now_;
        one.runs = true;
        one.since = now_;
        due_.push({now_ + one.restart + one.left, ticket, ++one.turn, What::End});
        gpus_used_ += job(ticket).amount();
        --waiting_;
    }

    void remember() { result_.replay.timeline.push_back({now_, gpus_used_, waiting_}); }

    inline static const std::string kDefaultPool = model::kDefaultPool;

    const CoreExperiment& experiment_;
    State state_;
    scheduling::DecisionCache memory_;
    std::vector<LiveJob> jobs_;
    std::vector<std::int32_t> first_gpus_;  // of each node
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
    std::size_t submitted_ = 0;
    std::size_t finished_ = 0;
    std::int32_t waiting_ = 0;
    base::MilliGpu gpus_used_{0};
    std::optional<TimePoint> wake_up_;
    bool is_changed_ = false;
    TimePoint now_;
    CoreReplay result_;
};

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

Result<CoreReplay> replay(const CoreExperiment& experiment, const OnProgress& on_progress) {
    if (experiment.save_time > experiment.policy.pause_grace) {
        return base::invalid("a pause takes " + base::format(experiment.save_time) +
                             ", more than its grace of " +
                             base::format(experiment.policy.pause_grace) +
                             "; work would be lost, which is not simulated");
    }
    BERTH_TRY(state, lifecycle::from_description(experiment.cluster));
    return CorePlayer(experiment, std::move(state)).play(on_progress);
}

}  // namespace berth::simulation
