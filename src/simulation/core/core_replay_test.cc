// SPDX-License-Identifier: Apache-2.0
//
// Does the real core, in virtual time, keep what quotas promise? Small streams worked out by hand,
// and random ones with parts of GPUs; those with whole ones: tests/properties/streams.cc.
#include "simulation/core/core_replay.h"

#include <doctest/doctest.h>

#include "base/rng.h"
#include "simulation/core/core_audit.h"
#include "simulation/core/quota_figures.h"
#include "simulation/report/metrics.h"

namespace berth::simulation {
namespace {

using std::chrono::seconds;

TraceJob job(int submitted_s, int work_s, std::int32_t gpus, std::string project) {
    return {.submitted = base::at_ms(INT64_C(1000) * submitted_s),
            .work = seconds(work_s),
            .gpus = gpus,
            .project = std::move(project),
            .user = "",
            .name = ""};
}

model::Project project(std::string name, int quota) {
    model::Project one;
    one.name = std::move(name);
    one.rights.quota = base::MilliGpu{1000 * quota};
    return one;
}

model::Description cluster(int nodes, int gpus, std::vector<model::Project> projects) {
    model::Description description;
    for (int i = 0; i < nodes; ++i) {
        model::Node node;
        node.name = "n" + std::to_string(i);
        node.gpus = gpus;
        description.nodes.push_back(node);
    }
    for (std::size_t i = 0; i < projects.size(); ++i) {
        projects[i].order = static_cast<std::int64_t>(i);
    }
    description.projects = std::move(projects);
    return description;
}

struct CorePlay {
    Trace trace;
    model::Description description;
    model::Policy policy = model::berth_policy();
    Placement placement = Placement::Nodes;
    Duration restart_cost = seconds(60);
    Duration save_time = seconds(30);
    CoreReplay run = {};

    CoreExperiment experiment() const {
        return {trace, description, policy, placement, restart_cost, save_time};
    }
    std::vector<std::string> complaints() const {
        return audit(Accounts(experiment()), experiment(), run);
    }
    CorePlay& go() {
        auto found = simulation::replay(experiment());
        REQUIRE_MESSAGE(found, found.error().message);
        run = std::move(*found);
        for (const std::string& complaint : complaints()) FAIL_CHECK(complaint);
        return *this;
    }
    // Seconds; -1 = never.
    std::vector<std::int64_t> ends() const {
        std::vector<std::int64_t> all;
        for (const JobRecord& one : run.replay.jobs) {
            all.push_back(one.end ? base::to_ms(*one.end) / 1000 : -1);
        }
        return all;
    }
    std::vector<ProjectFigures> figures() const {
        return project_figures(Accounts(experiment()), experiment(), run);
    }
};

using Ends = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("an owner who returns has its GPUs after the time to save, the borrower goes on later") {
    CorePlay play{{job(0, 1000, 1, "a"), job(0, 1000, 1, "a"), job(400, 100, 1, "b")},
                  cluster(1, 2, {project("a", 1), project("b", 1)})};
    play.go();
    // b starts at 430 and ends at 530; the borrower had 400 s, restarts for 60 s, then 600 more.
    CHECK(play.ends() == Ends{1000, 1190, 530});
    CHECK(play.run.replay.jobs[1].held == seconds(430 + 660));
    const std::vector<ProjectFigures> figures = play.figures();
    REQUIRE(figures.size() == 2);
    CHECK(figures[0].name == "a");
    CHECK(figures[0].pauses == 1);
    CHECK(figures[0].gpu_hours == doctest::Approx((1000 + 430 + 660) / 3600.0));
    // Two GPUs until 430, then from 530 to 1000; one is the quota.
    CHECK(figures[0].over_quota_gpu_hours == doctest::Approx((430 + 470) / 3600.0));
    CHECK(figures[0].longest_in_quota_wait_s == 0);
    CHECK(figures[1].longest_in_quota_wait_s == 30);
    CHECK(figures[1].avg_jct_s == doctest::Approx(130));
    CHECK(figures[1].over_quota_gpu_hours == 0);
}

TEST_CASE("a fixed quota is neither lent nor passed: the static cluster") {
    CorePlay play{{job(0, 100, 1, "a"), job(0, 100, 1, "a"), job(50, 100, 1, "b")},
                  cluster(1, 2, {project("a", 1), project("b", 1)})};
    for (model::Project& one : play.description.projects) {
        one.rights.kind = model::QuotaKind::Fixed;
    }
    CHECK(play.go().ends() == Ends{100, 200, 150});
}

TEST_CASE("a build is never paused and passes the trainings of its project") {
    CorePlay play{{job(0, 1000, 1, "a"), job(400, 50, 1, "a")}, cluster(1, 1, {project("a", 1)})};
    play.trace[1].kind = model::JobKind::Build;
    CHECK(play.go().ends() == Ends{1140, 480});
    CHECK(play.run.replay.jobs[0].pauses == 1);
    // Its project's own GPUs were leaving: that is no matter of quotas.
    CHECK(play.figures()[0].longest_in_quota_wait_s == 0);
}

TEST_CASE("a job goes to the pool that it names, and to none else") {
    CorePlay play{{job(0, 100, 1, "a"), job(0, 100, 1, "a")}, cluster(2, 1, {project("a", 1)})};
    play.description.pools.push_back({.name = "fast", .labels = {{"is", "fast"}}, .exchange = {}});
    play.description.nodes[1].labels = {{"is", "fast"}};
    play.description.projects[0].pools["fast"] = play.description.projects[0].rights;
    play.trace[0].pool = play.trace[1].pool = "fast";
    CHECK(play.go().ends() == Ends{100, 200});
}

TEST_CASE("by nodes a job stands on one, a wider one in equal parts; by count anywhere") {
    CorePlay play{{job(0, 100, 3, "a"), job(0, 100, 3, "a"), job(1, 10, 2, "a")},
                  cluster(2, 4, {project("a", 8)})};
    play.policy.order.by = model::JobOrder::Age;
    CHECK(play.go().ends() == Ends{100, 100, 110});
    play.placement = Placement::Count;
    CHECK(play.go().ends() == Ends{100, 100, 11});
    play.placement = Placement::Nodes;
    play.trace = {job(0, 100, 6, "a"), job(0, 100, 2, "a")};  // three times two GPUs
    CHECK(play.go().ends() == Ends{100, 100});
}

TEST_CASE("parts of a GPU share one, each at full speed, and count as so much of it") {
    CorePlay play{{job(0, 100, 1, "a"), job(0, 100, 1, "a"), job(0, 100, 1, "a")},
                  cluster(1, 1, {project("a", 1)})};
    for (TraceJob& one : play.trace) one.share = base::MilliGpu{500};
    CHECK(play.go().ends() == Ends{100, 100, 200});
    CHECK(play.figures()[0].gpu_hours == doctest::Approx(150 / 3600.0));
    const Metrics metrics = measure(play.experiment().plain(), play.run.replay);
    CHECK(metrics.utilization == doctest::Approx(0.75));
    CHECK(metrics.fragmentation == 0);  // when one waited, all was in use
    // 1.5 GPUs are asked of one for half of the time.
    CHECK(metrics.rho_max == doctest::Approx(200 / (100 * 1.0)));
    // The audit finds what does not fit on it, who runs and who saves.
    play.trace[1].share = base::MilliGpu{501};
    CHECK(play.complaints().front() == "job 1: GPU 0 is not free");
    play.trace[1].share = base::MilliGpu{500};
    play.run.replay.intervals[1].to += seconds(1);
    CHECK(play.complaints().size() > 1);
}

TEST_CASE("a limit holds for parts of GPUs too") {
    CorePlay play{{job(0, 100, 1, "a"), job(0, 100, 1, "a"), job(0, 100, 1, "a")},
                  cluster(1, 2, {project("a", 1)})};
    for (TraceJob& one : play.trace) one.share = base::MilliGpu{600};
    play.description.projects[0].rights.limit = base::MilliGpu{1200};
    CHECK(play.go().ends() == Ends{100, 100, 200});
    play.description.projects[0].rights.limit = base::MilliGpu{1199};
    CHECK(play.complaints().front() == "job 1: makes \"a\" hold 1.2 of at most 1.199 GPUs");
}

TEST_CASE(
    "by age a job leaves its GPUs for another of its project only to move, which is counted") {
    CorePlay play{
        {job(0, 10'000, 2, "a"), job(0, 50, 2, "a"), job(0, 10'000, 2, "a"), job(60, 100, 4, "a")},
        cluster(2, 4, {project("a", 8)})};
    play.policy.order.by = model::JobOrder::Age;
    const Metrics metrics = measure(play.experiment().plain(), play.go().run.replay);
    CHECK(play.ends()[3] < 10'000);
    CHECK(metrics.pauses == 1);
    CHECK(metrics.moves == 1);
    CHECK(play.figures()[0].moves == 1);
}

TEST_CASE("what can never run does not finish, and the rest goes on") {
    CorePlay play{{job(0, 100, 5, "a"), job(1, 10, 1, "a")}, cluster(1, 4, {project("a", 4)})};
    CHECK(play.go().ends() == Ends{-1, 11});
}

TEST_CASE("jobs are refused that the cluster has no place for in its books") {
    const model::Description two = cluster(1, 1, {project("a", 1), project("b", 0)});
    const auto complaint = [&](Trace trace, const model::Description& description) {
        const auto taken = trace_for(trace, description);
        return taken ? "" : taken.error().message;
    };
    CHECK(complaint({job(0, 1, 1, "a"), job(90, 1, 1, "c")}, two) ==
          "job 2, submitted at 1m30s: project \"c\" is not in the cluster; add it there, or keep "
          "to one with --project");
    CHECK(complaint({job(0, 1, 1, "")}, two) ==
          "job 1, submitted at 0s: names no project, and the cluster has not exactly one");
    const auto taken = trace_for({job(0, 1, 1, "")}, cluster(1, 1, {project("a", 1)}));
    REQUIRE(taken);
    CHECK(taken->front().project == "a");
    model::Description tree = two;
    tree.projects[0].parent = "b";
    CHECK(complaint({job(0, 1, 1, "b")}, tree) ==
          "job 1, submitted at 0s: \"b\" is a department; name one of the projects below it");
    Trace elsewhere{job(0, 1, 1, "a")};
    elsewhere[0].pool = "moon";
    CHECK(complaint(elsewhere, two) ==
          "job 1, submitted at 0s: pool \"moon\" is not in the cluster; add it there");
    model::Description busy = two;
    busy.jobs.emplace_back();
    CHECK(complaint({}, busy).starts_with("the cluster has jobs of its own"));
}

TEST_CASE("a job of more tasks than a gang may have ends the replay with a sentence") {
    const CorePlay play{.trace = {job(0, 10, 1'000'000, "a")},
                        .description = cluster(1, 1, {project("a", 1)})};
    const auto run = replay(play.experiment());
    REQUIRE_FALSE(run);
    CHECK(run.error().message == "job 1 of the trace: tasks: wanted 1 to 100000, found 1000000");
}

TEST_CASE("a pause that takes longer than its grace is refused") {
    CorePlay play{{job(0, 1, 1, "a")}, cluster(1, 1, {project("a", 1)})};
    play.save_time = seconds(61);
    CHECK_FALSE(simulation::replay(play.experiment()).has_value());
}

// Classic does not hold for an owner what was freed for it: others may take it first.
TEST_CASE("the audit finds what cannot be") {
    CorePlay sound{{job(0, 1000, 1, "a"), job(0, 1000, 1, "a"), job(400, 100, 1, "b")},
                   cluster(1, 2, {project("a", 1), project("b", 1)})};
    sound.description.projects[0].rights.limit = base::MilliGpu{2000};
    sound.policy.order.by = model::JobOrder::Age;
    sound.go();
    const auto complaint = [&](const auto& spoil) {
        CorePlay spoiled = sound;
        spoil(spoiled);
        const auto complaints = spoiled.complaints();
        return complaints.empty() ? "" : complaints.front();
    };
    CHECK(complaint([](CorePlay& one) { one.run.replay.gpus[2] = one.run.replay.gpus[0]; }) ==
          "job 0: GPU 1 is not free");
    CHECK(complaint([](CorePlay& one) { one.save_time += seconds(1); }) ==
          "job 1: took 30s to leave");
    CHECK(complaint([](CorePlay& one) { one.restart_cost += seconds(1); }) ==
          "job 1: ended after 17m40s on GPUs for 16m40s of work");
    CHECK(complaint([](CorePlay& one) {
              one.description.projects[0].rights.limit = base::MilliGpu{1000};
          }) == "job 1: makes \"a\" hold 2 of at most 1 GPUs");
    CHECK(complaint([](CorePlay& one) { one.policy.pause_grace = seconds(29); }) ==
          "job 2: waited 30s within the quota of \"b\"");
    // What is promised twice cannot be kept.
    CHECK(complaint([](CorePlay& one) {
              one.policy.pause_grace = seconds(29);
              one.description.projects[1].rights.quota = base::MilliGpu{2000};
          }) == "");
}

TEST_CASE("a project's demand within its quota is taken in its own order") {
    // Wider than the quota: never within, and no job waits behind it. Of the others the first two
    // ask no more than the quota; the last would be beyond it.
    CorePlay play{{job(0, 3000, 4, "b"), job(10, 10, 4, "a"), job(20, 900, 1, "a"),
                   job(30, 900, 1, "a"), job(40, 900, 1, "a")},
                  cluster(1, 4, {project("a", 2), project("b", 2)})};
    play.go();
    const auto waits =
        in_quota_waits(Accounts(play.experiment()), play.experiment(), play.run, Demand::All);
    CHECK(waits[1].longest == seconds(30));
    CHECK(play.run.replay.jobs[2].first_start == base::at_ms(50'000));
    CHECK(play.run.replay.jobs[3].first_start <= base::at_ms(60'000));
}

TEST_CASE("random streams with parts of GPUs end under limits") {
    std::int64_t pauses = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        INFO("seed " << seed);
        base::Rng rng(seed);
        CorePlay play{{}, cluster(2, 2, {project("a", 2), project("b", 2), project("c", 0)})};
        play.description.projects[2].rights.limit = base::MilliGpu{1500};
        play.placement = seed % 2 == 0 ? Placement::Count : Placement::Nodes;
        play.restart_cost = seconds(rng.between(0, 90));
        play.save_time = seconds(rng.between(0, 60));
        for (int at = 0, left = 80; left > 0; --left) {
            at += static_cast<int>(rng.between(0, 2000));
            const std::string name(1, static_cast<char>('a' + rng.between(0, 2)));
            play.trace.push_back(job(at, static_cast<int>(rng.between(1, 10'000)), 1, name));
            if (rng.chance(1, 5)) continue;
            play.trace.back().share = base::MilliGpu{rng.between(1, 9) * 100};
        }
        play.go();
        const Metrics metrics = measure(play.experiment().plain(), play.run.replay);
        CHECK(metrics.finished == play.trace.size());
        CHECK(metrics.utilization <= 1);
        pauses += metrics.pauses;
    }
    CHECK(pauses > 50);
}

}  // namespace berth::simulation
