// SPDX-License-Identifier: Apache-2.0
//
// Is what `berth simulate` shows what a server does? The same random jobs once through the replay,
// once through the control loop with a virtual clock and a launcher whose jobs only take time: the
// same jobs start, are asked to leave and end at the same moments.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/rng.h"
#include "control/controller.h"
#include "doubles/hand_clock.h"
#include "doubles/memory_store.h"
#include "doubles/recording_launcher.h"
#include "simulation/core/core_replay.h"

namespace berth::tests {
namespace {

using base::Duration;
using base::TimePoint;
using model::JobId;
using std::chrono::seconds;

enum class What { Leaves, Ends, Starts };
struct Step {
    TimePoint at;
    What what = What::Starts;
    std::int64_t job = 0;

    auto operator<=>(const Step&) const = default;
};
using Steps = std::vector<Step>;

std::string words_of(const Steps& steps, std::size_t at) {
    if (at >= steps.size()) return "nothing";
    constexpr const char* kWords[] = {"leaves", "ends", "starts"};
    return "job " + std::to_string(steps[at].job) + " " +
           kWords[static_cast<std::size_t>(steps[at].what)] + " at " +
           std::to_string(base::to_ms(steps[at].at)) + " ms";
}

Steps replayed(const simulation::CoreExperiment& experiment) {
    const auto run = simulation::replay(experiment);
    REQUIRE_MESSAGE(run, run.error().message);
    Steps steps;
    for (std::size_t at = 0; at < run->replay.intervals.size(); ++at) {
        const simulation::RunInterval& interval = run->replay.intervals[at];
        const bool is_last =
            run->replay.jobs[static_cast<std::size_t>(interval.job)].end == interval.to;
        steps.push_back({interval.from, What::Starts, interval.job + 1});
        steps.push_back({run->asked[at], is_last ? What::Ends : What::Leaves, interval.job + 1});
    }
    std::ranges::sort(steps);
    return steps;
}

class Server {
  public:
    explicit Server(const simulation::CoreExperiment& experiment)
        : experiment_(experiment), left_(experiment.trace.size()) {
        control::Settings settings;
        settings.policy = experiment.policy;
        controller_ = std::make_unique<control::Controller>(
            std::move(settings), control::Ports{clock_, store_, launcher_});
        REQUIRE(controller_->recover());
        go_to(experiment.cluster.now);
        const auto done = [](const base::Status& status) { REQUIRE(status); };
        for (const model::Node& node : experiment.cluster.nodes) {
            controller_->set_node(node, "admin", done);
        }
        for (const model::Project& project : experiment.cluster.projects) {
            controller_->set_project(project, "admin", done);
        }
        controller_->step();
    }

    Steps run() {
        while (const auto next = next_moment()) {
            go_to(*next);
            submit_due();
            tell_due();
            controller_->step();
            take_orders();
        }
        Steps steps;
        for (const model::Event& event : disk_.events) {
            if (const auto* start = std::get_if<model::JobStarting>(&event.body)) {
                steps.push_back({event.time, What::Starts, start->job.value});
            } else if (const auto* pause = std::get_if<model::PauseRequested>(&event.body)) {
                steps.push_back({event.time, What::Leaves, pause->job.value});
            } else if (const auto* end = std::get_if<model::JobFinished>(&event.body)) {
                steps.push_back({event.time, What::Ends, end->job.value});
            }
        }
        std::ranges::sort(steps);
        return steps;
    }

  private:
    struct Due {
        TimePoint at;
        ports::AttemptId attempt;
        bool leaves = false;

        bool operator<(const Due& other) const {
            return std::tie(at, attempt.job) < std::tie(other.at, other.attempt.job);
        }
    };
    struct RunInterval {
        TimePoint since;
        Duration restart{};
    };

    void go_to(TimePoint at) { clock_.advance(at - clock_.now()); }

    std::optional<TimePoint> next_moment() const {
        std::optional<TimePoint> next;
        const auto consider = [&](TimePoint at) { next = std::min(next.value_or(at), at); };
        if (!due_.empty()) consider(due_.begin()->at);
        if (submitted_ < left_.size()) consider(experiment_.trace[submitted_].submitted);
        if (!next) return next;  // all have ended, but for those that never can
        if (const auto deadline = controller_->next_deadline()) consider(*deadline);
        return std::max(*next, clock_.now());
    }

    void submit_due() {
        for (; submitted_ < left_.size(); ++submitted_) {
            const simulation::TraceJob& job = experiment_.trace[submitted_];
            if (job.submitted > clock_.now()) return;
            left_[submitted_] = job.work;
            model::Submission submission;
            submission.spec =
                simulation::spec_of(job, experiment_.cluster.nodes.front().gpus, experiment_);
            submission.launch.command = {job.command};
            submission.launch.workdir = "/";
            submission.launch.user = job.user;
            controller_->submit(submission, [](const auto& outcome) { REQUIRE(outcome); });
        }
    }

    void tell_due() {
        while (!due_.empty() && due_.begin()->at <= clock_.now()) {
            const Due one = *due_.begin();
            due_.erase(due_.begin());
            if (one.leaves) launcher_.listener().on_saved(one.attempt);
            launcher_.listener().on_exit(one.attempt,
                                         {.exit_code = 0, .stop_asked = one.leaves, .detail = {}});
        }
    }

    // A job runs at once, and takes its time.
    void take_orders() {
        std::vector<ports::LaunchOrder> orders = std::exchange(launcher_.starts, {});
        for (const ports::LaunchOrder& order : std::exchange(launcher_.resumes, {})) {
            orders.push_back(order);
        }
        for (const auto& stop : std::exchange(launcher_.stops, {})) ask_to_leave(stop.attempt);
        for (const ports::LaunchOrder& order : orders) {
            const auto number = static_cast<std::size_t>(order.attempt.job.value - 1);
            RunInterval& interval = intervals_[order.attempt.job];
            interval = {clock_.now(), order.resumes ? experiment_.restart_cost : Duration{}};
            due_.insert({clock_.now() + interval.restart + left_[number], order.attempt, false});
            launcher_.listener().on_running(order.attempt);
        }
        if (!orders.empty()) controller_->step();
        if (!launcher_.starts.empty() || !launcher_.stops.empty()) take_orders();
    }

    void ask_to_leave(ports::AttemptId attempt) {
        const auto is_its = [&](const Due& due) { return due.attempt == attempt; };
        const auto end = std::ranges::find_if(due_, is_its);
        REQUIRE(end != due_.end());
        if (end->leaves) return;
        due_.erase(end);
        const RunInterval& interval = intervals_[attempt.job];
        left_[static_cast<std::size_t>(attempt.job.value - 1)] -=
            std::max(clock_.now() - interval.since - interval.restart, Duration{});
        due_.insert({clock_.now() + experiment_.save_time, attempt, true});
    }

    const simulation::CoreExperiment& experiment_;
    HandClock clock_;
    MemoryStore::Disk disk_;
    MemoryStore store_{disk_};
    RecordingLauncher launcher_;
    std::unique_ptr<control::Controller> controller_;
    std::size_t submitted_ = 0;
    std::vector<Duration> left_;
    std::map<JobId, RunInterval> intervals_;
    std::set<Due> due_;
};

// Groups of jobs of a few users, a good deal more than there is room for.
enum class Parts { None, Some };

simulation::Trace random_trace(base::Rng& rng, int gpus, Parts parts) {
    simulation::Trace trace;
    TimePoint at = base::at_ms(1'700'000'000'000);
    for (int left = 150; left > 0; --left) {
        if (rng.chance(1, 4)) at += seconds(rng.between(0, 4000));
        simulation::TraceJob job;
        job.submitted = at;
        job.gpus = static_cast<std::int32_t>(rng.chance(1, 2) ? 1 : rng.between(1, gpus));
        if (parts == Parts::Some && job.gpus == 1) job.share = {rng.between(1, 10) * 100};
        job.work = seconds(rng.chance(1, 2) ? rng.between(1, 600) : rng.between(600, 40'000));
        job.user = std::string(1, static_cast<char>('s' + rng.between(0, 2)));
        job.command = "train";
        job.name = "run-" + std::to_string(rng.between(0, 3));
        trace.push_back(job);
    }
    return simulation::of_one_project(std::move(trace));
}

}  // namespace

TEST_CASE("a replay starts, pauses and ends what a server does, at the same moments") {
    int pauses = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        base::Rng rng(seed);
        const simulation::Machines machines{static_cast<std::int32_t>(rng.between(1, 4)), 4};
        const simulation::Trace trace =
            random_trace(rng, machines.gpus(), seed % 3 == 0 ? Parts::Some : Parts::None);
        model::Description cluster = simulation::owned_by_one(machines);
        cluster.now = trace.front().submitted;
        const Duration restart = seconds(rng.between(0, 90));
        const Duration save = seconds(rng.chance(1, 2) ? 0 : rng.between(0, 60));
        for (const model::JobOrder by :
             {model::JobOrder::Learned, model::JobOrder::ByLevels, model::JobOrder::Age}) {
            model::Policy policy = model::berth_policy();
            policy.order.by = by;
            const simulation::CoreExperiment experiment{
                .trace = trace,
                .cluster = cluster,
                .policy = policy,
                .placement =
                    seed % 2 == 0 ? simulation::Placement::Count : simulation::Placement::Nodes,
                .restart_cost = restart,
                .save_time = save};
            const Steps expected = replayed(experiment);
            const Steps found = Server(experiment).run();
            pauses += static_cast<int>(std::ranges::count(found, What::Leaves, &Step::what));
            const auto at = static_cast<std::size_t>(std::ranges::mismatch(expected, found).in1 -
                                                     expected.begin());
            const bool are_same = expected == found;
            CHECK_MESSAGE(are_same, "seed " << seed << ", order " << static_cast<int>(by)
                                            << ", step " << at << " of " << expected.size()
                                            << ": replay: " << words_of(expected, at)
                                            << "; server: " << words_of(found, at));
        }
    }
    CHECK(pauses > 1000);
}

}  // namespace berth::tests
