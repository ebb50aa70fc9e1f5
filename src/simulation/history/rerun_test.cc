// SPDX-License-Identifier: Apache-2.0
//
// What would the last days have been under a change? Small logs, worked out by hand.
#include "simulation/history/rerun.h"

#include <doctest/doctest.h>

#include "base/rng.h"
#include "simulation/report/metrics.h"

namespace berth::simulation {
namespace {

using model::Hypothesis;
using model::ReplayState;
using model::Supposition;
using std::chrono::seconds;

TimePoint at_s(std::int64_t time) { return base::at_ms(time * 1'000); }

model::Node node_of(std::string name, int gpus) {
    model::Node node;
    node.name = std::move(name);
    node.gpus = gpus;
    return node;
}

model::Project entitled(std::string name, int quota) {
    model::Project one;
    one.name = std::move(name);
    one.rights.quota = base::MilliGpu{INT64_C(1000) * quota};
    return one;
}

// A log whose events come in the order of their times.
class Log {
  public:
    void happen(std::int64_t at, model::EventBody body) {
        events_.push_back({0, at_s(at), "test", std::move(body)});
    }
    // It runs from `start` to `end`.
    struct Job {
        std::string project;
        int gpus = 1;
        std::int64_t submitted = 0;
        std::int64_t start = 0;
        std::int64_t end = 0;
    };
    void run(const Job& job) {
        const base::JobId id{++jobs_};
        model::JobSpec spec;
        spec.name = "j" + std::to_string(jobs_);
        spec.project = job.project;
        spec.request.gpus = job.gpus;
        happen(job.submitted, model::JobSubmitted{id, spec, "maria", "train"});
        const std::uint64_t mask = (UINT64_C(1) << static_cast<unsigned>(job.gpus)) - 1;
        happen(job.start,
               model::JobStarting{id, 1, model::Rule::Allocate, {{0, {0}, mask, base::kWholeGpu}}});
        happen(job.start, model::JobRunning{id});
        happen(job.end, model::JobFinished{id, model::JobState::Succeeded, 0, {}});
    }
    ports::OpenLog open() {
        std::ranges::stable_sort(events_, {}, &model::Event::time);
        for (std::size_t i = 0; i < events_.size(); ++i) {
            events_[i].sequence = static_cast<std::int64_t>(i) + 1;
        }
        return [this]() -> base::Result<std::unique_ptr<ports::LogReader>> {
            return std::make_unique<Reader>(events_);
        };
    }
    std::int64_t last() const { return std::ssize(events_); }

  private:
    struct Reader final : ports::LogReader {
        explicit Reader(const std::vector<model::Event>& its) : events(its) {}
        base::Status read_events(std::int64_t after, std::int64_t limit,
                                 const std::function<void(model::Event&&)>& visit) override {
            const auto end = std::min<std::int64_t>(std::ssize(events), after + limit);
            for (std::int64_t i = after; i < end; ++i)
                visit(model::Event(events[static_cast<std::size_t>(i)]));
            return {};
        }
        const std::vector<model::Event>& events;
    };

    std::vector<model::Event> events_;
    std::int64_t jobs_ = 0;
};

struct Asked {
    std::vector<Hypothesis> suppose = {};
    model::PolicyChanges policy = {};
    std::int64_t from_s = 0;
    std::int64_t to_s = 100'000;
    model::JobOrder order = model::JobOrder::Age;
};

model::WhatIfReplay rerun(Log& log, Asked asked) {
    auto open = log.open();
    model::Policy policy = model::berth_policy();
    policy.order.by = asked.order;
    Rerun rerun({.from = at_s(asked.from_s),
                 .to = at_s(asked.to_s),
                 .last = log.last(),
                 .started_policy = policy,
                 .suppose = std::move(asked.suppose),
                 .policy = std::move(asked.policy)},
                std::move(open));
    for (int turns = 0; !model::is_final(rerun.answer().state); ++turns) {
        REQUIRE(turns < 10'000);
        rerun.turn();
    }
    return rerun.answer();
}

model::WhatIfReplay done(Log& log, Asked asked) {
    auto answer = rerun(log, std::move(asked));
    REQUIRE_MESSAGE(answer.state == ReplayState::Done, answer.problem);
    CHECK(answer.percent == 100);
    return answer;
}

Hypothesis quota(std::string name, int gpus) {
    return {.what = Supposition::Quota,
            .name = std::move(name),
            .gpus = base::MilliGpu{INT64_C(1000) * gpus}};
}

// The second job waits for the first one.
Log two_in_line() {
    Log log;
    log.happen(0, model::NodeSet{node_of("n0", 2)});
    log.happen(0, model::ProjectSet{entitled("a", 2)});
    log.run({.project = "a", .gpus = 2, .submitted = 10, .start = 10, .end = 1'010});
    log.run({.project = "a", .gpus = 2, .submitted = 110, .start = 1'010, .end = 1'510});
    return log;
}

}  // namespace

TEST_CASE("one more node removes a wait") {
    Log log = two_in_line();
    const auto answer =
        done(log, {.suppose = {{.what = Supposition::Node, .name = "n0", .count = 1}}});
    CHECK(answer.all.really.mean_wait == seconds(450));
    CHECK(answer.all.as_set.mean_wait == seconds(450));
    CHECK(answer.all.as_set.p95_wait == seconds(855));
    CHECK(answer.all.as_set.mean_completion == seconds(1'200));
    CHECK(answer.all.changed.mean_wait == seconds(0));
    CHECK(answer.all.changed.mean_completion == seconds(750));
    CHECK(answer.all.changed.jobs == 2);
    // 2 GPUs for 1,000 and 500 s; of 2 GPUs, then of 4.
    CHECK(answer.all.changed.used_gpu_ms == 3'000'000);
    CHECK(answer.all.as_set.capacity_gpu_ms == 200'000'000);
    CHECK(answer.all.changed.capacity_gpu_ms == 400'000'000);
    CHECK(answer.sentence == "Jobs would have waited less than 1 s on average, not 7 min 30 s.");
    CHECK(answer.trust ==
          "Both sides are simulated, from the same submissions and run times. As it was set, the "
          "simulation has jobs wait 7 min 30 s on average; really they waited 7 min 30 s.");
}

TEST_CASE("a node less makes jobs wait, or never end") {
    Log log = two_in_line();
    const auto answer = done(log, {.suppose = {{.what = Supposition::Drain, .name = "n0"}}});
    CHECK(answer.never_end == 2);
    CHECK(answer.sentence == "2 jobs would never have ended.");
    // What was does not depend on what is supposed.
    CHECK(answer.all.really.mean_wait == seconds(450));
    CHECK(answer.all.as_set.jobs == 2);
    CHECK(answer.all.changed.jobs == 0);
}

TEST_CASE("a doubled quota removes a pause, at the price of who paused") {
    Log log;
    log.happen(0, model::NodeSet{node_of("n0", 2)});
    log.happen(0, model::ProjectSet{entitled("a", 1)});
    log.happen(0, model::ProjectSet{entitled("b", 1)});
    log.run({.project = "a", .submitted = 10, .start = 10, .end = 1'010});
    log.run({.project = "a", .submitted = 10, .start = 10, .end = 1'010});
    log.run({.project = "b", .submitted = 410, .start = 410, .end = 510});
    const auto answer = done(log, {.suppose = {quota("a", 2), quota("b", 0)}});
    CHECK(answer.all.as_set.pauses == 1);
    CHECK(answer.all.changed.pauses == 0);
    REQUIRE(answer.projects.size() == 2);
    CHECK(answer.projects[0].project == "a");
    // It leaves after 30 s and waits until b's job ends, 100 s later; then it starts again for 60
    // s. Under the change b waits until the first of a's ends.
    CHECK(answer.projects[0].as_set.mean_wait == seconds(50));
    CHECK(answer.projects[0].as_set.lost_gpu_ms == 90'000);
    CHECK(answer.projects[0].changed.mean_wait == seconds(0));
    CHECK(answer.projects[0].changed.lost_gpu_ms == 0);
    CHECK(answer.projects[1].as_set.mean_wait == seconds(30));
    CHECK(answer.projects[1].changed.mean_wait == seconds(600));
    CHECK(
        answer.sentence.ends_with("with 0 pauses in place of 1; a gains most, 50 s a job; b loses "
                                  "most, 9 min 30 s a job."));
}

TEST_CASE("a quota that people set on the way gives way to the one that is supposed") {
    Log log;
    log.happen(0, model::NodeSet{node_of("n0", 2)});
    log.happen(0, model::ProjectSet{entitled("a", 1)});
    log.happen(0, model::ProjectSet{entitled("b", 1)});
    log.happen(20, model::ProjectSet{entitled("a", 0)});
    model::Project limited = entitled("b", 0);
    limited.rights.limit = base::MilliGpu{0};
    log.happen(30, model::ProjectSet{limited});
    log.run({.project = "b", .submitted = 410, .start = 410, .end = 510});
    Hypothesis limit = quota("b", 2);
    limit.what = Supposition::Limit;
    const auto answer = rerun(log, {.suppose = {limit}});
    CHECK(answer.state == ReplayState::Done);
    // It never ends as it was set: no job ends on both sides.
    CHECK(answer.all.as_set.jobs == 0);
    CHECK(answer.all.as_set.used_gpu_ms == 0);
    CHECK(answer.all.changed.used_gpu_ms == 100'000);
}

TEST_CASE("a replay of a log is the simulator's run of the same submissions") {
    Trace trace;
    model::Description cluster;
    cluster.nodes = {node_of("n0", 4), node_of("n1", 4)};
    cluster.projects = {entitled("a", 4), entitled("b", 4)};
    cluster.projects[1].order = 1;
    for (int i = 0; i < 40; ++i) {
        trace.push_back({.submitted = at_s(50 * i),
                         .work = seconds(100 + 37 * (i % 11)),
                         .gpus = 1 << (i % 4),
                         .project = i % 3 == 0 ? "b" : "a",
                         .user = "maria",
                         .name = "j" + std::to_string(i % 5)});
    }
    CoreExperiment experiment{.trace = trace, .cluster = cluster};
    experiment.policy = model::berth_policy();
    experiment.restart_cost = seconds(20);
    const auto simulated = replay(experiment);
    REQUIRE(simulated);
    const Metrics metrics = measure(experiment.plain(), simulated->replay);
    REQUIRE(metrics.pauses > 0);

    Log log;
    for (const model::Node& one : cluster.nodes) log.happen(0, model::NodeSet{one});
    for (const model::Project& one : cluster.projects) log.happen(0, model::ProjectSet{one});
    for (std::size_t i = 0; i < trace.size(); ++i) {
        const TraceJob& job = trace[i];
        const base::JobId id{static_cast<std::int64_t>(i) + 1};
        const model::JobSpec spec = spec_of(job, 4, experiment);
        const auto submitted = to_ms(job.submitted) / 1000;
        // Long after, on GPUs that do not matter; each start takes the 20 s that a restart costs.
        const std::int64_t start = 10'000 + submitted;
        log.happen(submitted, model::JobSubmitted{id, spec_of(job, 4, experiment), "maria", ""});
        model::JobStarting starting{id, 1, model::Rule::Allocate, {}};
        for (int rank = 0; rank < spec.tasks_max; ++rank) {
            starting.tasks.push_back(
                {.task = rank, .node = {static_cast<base::NodeId::Rep>(rank)}, .gpu_mask = 1});
        }
        log.happen(start, starting);
        log.happen(start + 20, model::JobRunning{id});
        log.happen(start + 20 + job.work / seconds(1),
                   model::JobFinished{id, model::JobState::Succeeded, 0, {}});
    }
    const auto answer = done(log, {.order = model::JobOrder::Learned});
    const model::ReplayFigures& figures = answer.all.as_set;
    CHECK(figures.jobs == 40);
    CHECK(static_cast<double>(figures.mean_wait.count()) ==
          doctest::Approx(metrics.avg_queue_s * 1000).epsilon(1e-6));
    CHECK(static_cast<double>(figures.mean_completion.count()) ==
          doctest::Approx(metrics.avg_jct_s * 1000).epsilon(1e-6));
    CHECK(figures.pauses == metrics.pauses);
    // Nothing is supposed.
    CHECK(answer.all.changed == figures);
    CHECK(answer.all.really.mean_wait == seconds(10'000));
}

TEST_CASE("a setting of the policy that is supposed holds, whatever people set on the way") {
    Log log = two_in_line();
    log.happen(50, model::PolicySet{{{"order", "learned"}}, {}});
    const auto answer = done(log, {.policy = {{"order", "age"}}});
    // As people set it, the first leaves for the second, of which nothing is known to be long.
    CHECK(answer.all.as_set.pauses == 1);
    CHECK(answer.all.changed.pauses == 0);
}

TEST_CASE("a job that was there before comes as the days begin, with what it still ran") {
    Log log = two_in_line();
    const auto answer = done(log, {.from_s = 510});
    // The first has 500 s left, and runs; the second waits for it.
    CHECK(answer.all.as_set.mean_completion == seconds(750));
    CHECK(answer.all.as_set.mean_wait.count() == 250'000);
    CHECK(answer.all.really.mean_wait.count() == 250'000);
}

// What it costs is in ADR 0055: simulation_test --no-skip -tc="a month of*".
TEST_CASE("a month of 10,000 jobs on 128 GPUs is replayed" * doctest::skip()) {
    constexpr std::int64_t kMonth = INT64_C(30) * 24 * 3600;
    Log log;
    for (int i = 0; i < 16; ++i) log.happen(0, model::NodeSet{node_of("n" + std::to_string(i), 8)});
    for (int i = 0; i < 6; ++i) {
        log.happen(0, model::ProjectSet{entitled("p" + std::to_string(i), 10 + 4 * i)});
    }
    base::Rng rng(1);
    for (int i = 0; i < 10'000; ++i) {
        const auto submitted = static_cast<std::int64_t>(rng.between(0, kMonth));
        const auto work = static_cast<std::int64_t>(rng.between(600, 18'600));
        log.run({.project = "p" + std::to_string(rng.between(0, 5)),
                 .gpus = 1 << rng.between(0, 3),
                 .submitted = submitted,
                 .start = submitted + 60,
                 .end = submitted + 60 + work});
    }
    auto open = log.open();
    model::Policy policy = model::berth_policy();
    Rerun rerun({.from = at_s(0),
                 .to = at_s(kMonth),
                 .last = log.last(),
                 .started_policy = policy,
                 .suppose = {quota("p0", 30)},
                 .policy = {}},
                std::move(open));
    int turns = 0;
    for (; !model::is_final(rerun.answer().state); ++turns) rerun.turn();
    MESSAGE(turns, " parts; ", rerun.answer().sentence, " ", rerun.answer().trust);
    CHECK(rerun.answer().all.as_set.jobs > 9'000);
}

TEST_CASE("without a job that ran there is nothing to replay") {
    Log log;
    log.happen(0, model::NodeSet{node_of("n0", 2)});
    const auto answer = rerun(log, {});
    CHECK(answer.state == ReplayState::Failed);
    CHECK(answer.problem == "no job ran in these days; there is nothing to replay");
}

TEST_CASE("a node that fails sends its jobs back in line") {
    Log log;
    log.happen(0, model::NodeSet{node_of("n0", 2)});
    log.happen(0, model::NodeSet{node_of("n1", 2)});
    log.happen(0, model::ProjectSet{entitled("a", 4)});
    log.run({.project = "a", .gpus = 2, .submitted = 10, .start = 10, .end = 1'010});
    log.run({.project = "a", .gpus = 2, .submitted = 10, .start = 10, .end = 1'010});
    model::Node down = node_of("n1", 2);
    down.health = model::NodeHealth::Down;
    log.happen(510, model::NodeSet{down});
    const auto answer = done(log, {});
    // The other one has done half, waits until the first has ended, and starts again for 60 s.
    CHECK(answer.all.as_set.mean_wait == seconds(250));
    CHECK(answer.all.as_set.mean_completion == seconds(1'280));
}

}  // namespace berth::simulation
