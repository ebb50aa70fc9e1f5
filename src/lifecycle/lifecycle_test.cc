// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "lifecycle/apply.h"
#include "lifecycle/check.h"
#include "lifecycle/idle/idle_rule.h"
#include "lifecycle/invariants.h"

using namespace berth;
using berth::lifecycle::State;
using berth::model::JobState;

namespace {

constexpr base::JobId kJob{1};

class Life {
  public:
    Life() {
        model::Node node;
        node.name = "n0";
        node.gpus = 2;
        happen(model::NodeSet{node});
        model::Project project;
        project.name = "a";
        happen(model::ProjectSet{project});
        model::JobSpec spec;
        spec.name = "x";
        spec.project = "a";
        happen(model::JobSubmitted{kJob, spec, "ann", "train"});
    }

    std::optional<model::JobRecord> happen(model::EventBody body, std::int64_t after_ms = 0) {
        now += model::Duration{after_ms};
        auto ended = lifecycle::apply(state, {state.sequence + 1, now, "test", std::move(body)});
        CHECK(lifecycle::violations(state.cluster).empty());
        auto counts = decltype(state.counts){};
        for (const auto& [id, job] : state.jobs) ++counts[static_cast<std::size_t>(job.state)];
        CHECK(state.counts == counts);
        return ended;
    }

    void start(int attempt) {
        const model::TaskPlacement place{0, {0}, 1, base::kWholeGpu, {}, {}};
        happen(model::JobStarting{kJob, attempt, {}, {place}});
        happen(model::JobRunning{kJob});
    }

    void pause(std::int64_t unsaved_gpu_ms = 0) {
        model::PauseRequested request;
        request.job = kJob;
        request.cost.unsaved_gpu_ms = unsaved_gpu_ms;
        happen(request);
    }

    JobState job_state() const { return state.jobs.at(kJob).state; }

    State state;
    model::TimePoint now = base::at_ms(1000);
};

}  // namespace

TEST_CASE("queued, starting, running, pausing, paused, running, succeeded") {
    Life life;
    CHECK(life.job_state() == JobState::Queued);
    life.start(1);
    CHECK(life.job_state() == JobState::Running);
    life.now += model::Duration{5000};
    life.pause();
    CHECK(life.job_state() == JobState::Pausing);
    life.happen(model::JobPaused{kJob, true}, 1000);
    CHECK(life.job_state() == JobState::Paused);
    life.start(2);
    const auto ended = life.happen(model::JobFinished{kJob, JobState::Succeeded, 0, {}}, 4000);
    REQUIRE(ended.has_value());
    CHECK(ended->state == JobState::Succeeded);
    CHECK(ended->attempts == 2);
    CHECK(ended->pauses == 1);
    CHECK(ended->attained_gpu_ms == 10'000);
    CHECK(ended->last_pause->saved);
    CHECK(life.state.jobs.empty());
}

TEST_CASE("a frozen job holds no GPU but host memory of its node, and goes on with its attempt") {
    constexpr std::int64_t kMebibyte = 1 << 20;
    Life life;
    model::Node node;
    node.name = "n1";
    node.gpus = 2;
    node.memory = model::Bytes{1000 * kMebibyte};
    life.happen(model::NodeSet{node});
    const auto used = [&] { return life.state.cluster.nodes()[1].memory.used; };
    const model::TaskPlacement place{0, {1}, 1, base::kWholeGpu, {}, {100 * kMebibyte}};
    life.happen(model::JobStarting{kJob, 1, {}, {place}});
    life.happen(model::JobRunning{kJob, {model::PauseRung::Checkpoint, ""}});
    CHECK(used() == 100 * kMebibyte);
    life.pause(7000);
    life.happen(model::JobPaused{
        .job = kJob, .saved = true, .detail = {}, .frozen = model::Frozen{{40 * kMebibyte}, {}}});
    CHECK(life.job_state() == JobState::Paused);
    CHECK(life.state.jobs.at(kJob).frozen == std::vector{place});
    CHECK(life.state.jobs.at(kJob).lost_gpu_ms == 0);
    CHECK(life.state.cluster.pool({0}).free_total[0] == base::gpus(4));
    CHECK(used() == 140 * kMebibyte);
    const State restored = lifecycle::restore(lifecycle::snapshot(life.state));
    CHECK(restored.cluster.nodes()[1].memory.used == 140 * kMebibyte);
    CHECK(lifecycle::dump(restored.cluster) == lifecycle::dump(life.state.cluster));
    life.happen(model::JobStarting{kJob, 1, {}, {place}});
    CHECK(used() == 100 * kMebibyte);
    life.happen(model::JobRunning{kJob});
    CHECK(life.state.jobs.at(kJob).frozen.empty());
    CHECK(life.state.jobs.at(kJob).pause_way.rung == model::PauseRung::Checkpoint);
    life.happen(model::JobFinished{kJob, JobState::Succeeded, 0, {}});
    CHECK(used() == 0);
}

TEST_CASE("a frozen job starts with as many tasks as it has processes of") {
    Life life;
    life.start(1);
    const model::TaskPlacement place = life.state.jobs.at(kJob).tasks.front();
    life.pause();
    life.happen(
        model::JobPaused{.job = kJob, .saved = true, .detail = {}, .frozen = model::Frozen{}});
    const auto two = model::JobStarting{kJob, 1, {}, {place, {1, {0}, 2, base::kWholeGpu, {}, {}}}};
    CHECK(lifecycle::check(life.state, two).error().message.find("the processes of 1 task") !=
          std::string::npos);
    CHECK(lifecycle::check(life.state, model::JobStarting{kJob, 1, {}, {place}}).has_value());
}

TEST_CASE(
    "a frozen elastic job asks for the tasks that it has, between its minimum and its maximum") {
    Life life;
    model::Node node;
    node.name = "n1";
    node.gpus = 4;
    life.happen(model::NodeSet{node});
    const model::JobId job{2};
    model::JobSpec spec;
    spec.project = "a";
    spec.tasks_max = 4;
    spec.elastic = model::Elastic::Restart;
    life.happen(model::JobSubmitted{job, spec, "ann", "train"});
    life.happen(model::JobStarting{
        job, 1, {}, {{0, {1}, 1, base::kWholeGpu, {}, {}}, {1, {1}, 2, base::kWholeGpu, {}, {}}}});
    life.happen(model::JobRunning{job});
    model::PauseRequested request;
    request.job = job;
    life.happen(request);
    life.happen(
        model::JobPaused{.job = job, .saved = true, .detail = {}, .frozen = model::Frozen{}});
    const cluster::Job& frozen = life.state.cluster.job(job);
    CHECK(frozen.ask() == 2);
    CHECK(frozen.most_tasks() == 2);
    const State restored = lifecycle::restore(lifecycle::snapshot(life.state));
    CHECK(lifecycle::dump(restored.cluster) == lifecycle::dump(life.state.cluster));
    life.happen(model::AttemptLost{job, "the machine was restarted"});
    CHECK(frozen.ask() == 1);
    CHECK(frozen.most_tasks() == 4);
}

TEST_CASE("a parked job holds no GPU and asks for none until it wakes, also after a restart") {
    Life life;
    life.start(1);
    const model::TaskPlacement place = life.state.jobs.at(kJob).tasks.front();
    life.happen(model::JobParked{kJob, model::Frozen{{1 << 20}, {}}}, 5000);
    const model::JobRecord& job = life.state.jobs.at(kJob);
    CHECK(job.state == JobState::Paused);
    CHECK(job.parked_since == life.now);
    CHECK(job.frozen == std::vector{place});
    CHECK(job.tasks.empty());
    CHECK(job.last_pause->rule == model::Rule::Park);
    CHECK(job.last_pause->frozen.has_value());
    CHECK(job.lost_gpu_ms == 0);
    CHECK(job.attained_gpu_ms == 5000);
    CHECK(life.state.cluster.pool({0}).free_total[0] == base::gpus(2));
    CHECK(life.state.cluster.claim({0}, {1}).usage.pending == base::gpus(0));
    CHECK_FALSE(life.state.cluster.job(kJob).is_waiting());
    const State restored = lifecycle::restore(lifecycle::snapshot(life.state));
    CHECK(lifecycle::dump(restored.cluster) == lifecycle::dump(life.state.cluster));
    CHECK(restored.cluster.job(kJob).is_parked);
    CHECK_FALSE(lifecycle::check(life.state, model::JobStarting{kJob, 1, {}, {place}}));
    life.happen(model::JobWoken{kJob}, 5000);
    CHECK_FALSE(job.parked_since.has_value());
    CHECK(job.waiting_since == life.now);
    CHECK(life.state.cluster.job(kJob).is_waiting());
    CHECK_FALSE(lifecycle::check(life.state, model::JobWoken{kJob}));
    life.happen(model::JobStarting{kJob, 1, {}, {place}});
    life.happen(model::JobRunning{kJob});
    CHECK(job.attempts == 1);
}

TEST_CASE("a parked job that a user pauses wants both: to wake and to be resumed") {
    Life life;
    life.start(1);
    life.happen(model::JobParked{kJob, {}});
    life.happen(model::JobHeld{kJob});
    CHECK_FALSE(life.state.cluster.job(kJob).is_parked);  // a user is why it may not run
    life.happen(model::JobWoken{kJob});
    CHECK_FALSE(life.state.cluster.job(kJob).is_waiting());
    life.happen(model::JobReleased{kJob});
    CHECK(life.state.cluster.job(kJob).is_waiting());
}

TEST_CASE("a parked job whose processes are lost waits for its next attempt") {
    Life life;
    life.start(1);
    life.happen(model::JobParked{kJob, {}});
    life.happen(model::AttemptLost{kJob, "killed"});
    CHECK(life.job_state() == JobState::Queued);
    CHECK_FALSE(life.state.jobs.at(kJob).parked_since.has_value());
    CHECK(life.state.cluster.job(kJob).is_waiting());
}

TEST_CASE("the policy says when a session is parked that says nothing itself") {
    model::Policy policy;
    policy.park_after = model::Duration{1'800'000};
    const auto filled = [&](model::JobSpec spec) {
        lifecycle::fill_in(spec, policy);
        return spec.park_after;
    };
    model::JobSpec spec;
    CHECK_FALSE(filled(spec).has_value());  // a train job
    spec.kind = model::JobKind::Build;
    CHECK(filled(spec) == policy.park_after);
    spec.park_after = model::Duration{-1};  // never
    CHECK(filled(spec) == model::Duration{-1});
    spec.park_after.reset();
    spec.request.gpus = 0;
    CHECK_FALSE(filled(spec).has_value());
    spec.request.gpus = 1;
    spec.tasks_max = 2;
    CHECK_FALSE(filled(spec).has_value());
}

TEST_CASE("only who runs, can be checkpointed and was idle for its time is parked") {
    Life life;
    life.start(1);
    model::JobRecord job = life.state.jobs.at(kJob);
    const auto may = [&](std::int64_t idle_ms) {
        return lifecycle::may_be_parked(job, model::Duration{idle_ms});
    };
    job.pause_way.rung = model::PauseRung::Checkpoint;
    CHECK_FALSE(may(60'000));  // it did not ask for it
    job.spec.park_after = model::Duration{60'000};
    CHECK(may(60'000));
    CHECK_FALSE(may(59'999));
    job.pause_way.why_not_parked = "its calls are not seen";
    CHECK_FALSE(may(60'000));
    job.pause_way = {model::PauseRung::Signal, "no driver"};
    CHECK_FALSE(may(60'000));
    job.pause_way = {model::PauseRung::Checkpoint, ""};
    job.state = JobState::Starting;
    CHECK_FALSE(may(60'000));
}

TEST_CASE("a frozen job whose processes are lost waits for its next attempt, wherever") {
    Life life;
    life.start(1);
    life.pause();
    life.happen(
        model::JobPaused{.job = kJob, .saved = true, .detail = {}, .frozen = model::Frozen{}});
    CHECK(life.state.cluster.job(kJob).pinned.node.is_valid());
    life.happen(model::AttemptLost{kJob, "killed"});
    CHECK(life.job_state() == JobState::Queued);
    CHECK_FALSE(life.state.cluster.job(kJob).pinned.node.is_valid());
    CHECK(life.state.jobs.at(kJob).frozen.empty());
}

TEST_CASE("a pause that did not save is charged with what was unsaved") {
    Life life;
    life.start(1);
    life.pause(7000);
    life.happen(model::JobPaused{kJob, false});
    CHECK(life.state.jobs.at(kJob).lost_gpu_ms == 7000);
}

TEST_CASE("a lost attempt waits again and frees its GPUs") {
    Life life;
    life.start(1);
    life.happen(model::AttemptLost{kJob, "the machine restarted"});
    CHECK(life.job_state() == JobState::Queued);
    CHECK(life.state.cluster.pool({0}).free_total[0] == base::gpus(2));
}

TEST_CASE("an elastic job grows while its first task still starts") {
    Life life;
    model::JobSpec spec;
    spec.name = "elastic";
    spec.project = "a";
    spec.tasks_max = 2;
    const model::JobId job{2};
    life.happen(model::JobSubmitted{job, spec, "ann", "train"});
    const model::TaskPlacement first{0, {0}, 1, base::kWholeGpu, {}, {}};
    const model::TaskPlacement second{1, {0}, 2, base::kWholeGpu, {}, {}};
    life.happen(model::JobStarting{job, 1, {}, {first}});
    life.happen(model::JobStarting{job, 1, {}, {second}});
    life.happen(model::JobRunning{job});
    CHECK(life.state.jobs.at(job).tasks.size() == 2);
    CHECK(life.state.jobs.at(job).attempts == 1);
}

TEST_CASE("events that the state does not allow are refused with the reason") {
    Life life;
    const auto refuses = [&](model::EventBody body, base::ErrorCode code) {
        const auto status = lifecycle::check(life.state, body);
        REQUIRE_FALSE(status.has_value());
        CHECK(status.error().code == code);
    };
    refuses(model::JobRunning{kJob}, base::ErrorCode::Conflict);
    refuses(model::JobPaused{kJob, true}, base::ErrorCode::Conflict);
    refuses(model::JobReleased{kJob}, base::ErrorCode::Conflict);
    refuses(model::CancelRequested{{99}, {}}, base::ErrorCode::NotFound);
    refuses(model::JobSubmitted{kJob, {}, {}, {}}, base::ErrorCode::Exists);
    model::Project orphan;
    orphan.name = "b";
    orphan.parent = "missing";
    refuses(model::ProjectSet{orphan}, base::ErrorCode::NotFound);
    model::Project below;
    below.name = "a1";
    below.parent = "a";
    refuses(model::ProjectSet{below}, base::ErrorCode::Conflict);
}

TEST_CASE("a snapshot restores the same state at any moment of a life") {
    Life life;
    const auto check_restored = [&] {
        const State restored = lifecycle::restore(lifecycle::snapshot(life.state));
        CHECK(lifecycle::dump(restored.cluster) == lifecycle::dump(life.state.cluster));
        CHECK(lifecycle::violations(restored.cluster).empty());
        CHECK(restored.last_job == life.state.last_job);
        CHECK(restored.sequence == life.state.sequence);
        CHECK(restored.counts == life.state.counts);
    };
    check_restored();
    life.start(1);
    check_restored();
    life.pause();
    check_restored();
    life.happen(model::JobPaused{kJob, true});
    check_restored();
    const model::TaskPlacement place{0, {0}, 2, base::kWholeGpu, {}, {}};
    life.happen(model::JobReserved{kJob, model::Rule::Reclaim, life.now, {place}});
    check_restored();
    life.happen(model::JobHeld{kJob});
    check_restored();
}

TEST_CASE("a snapshot keeps a promise of GPUs that a later job is still leaving") {
    Life life;
    model::JobSpec spec = life.state.jobs.at(kJob).spec;
    spec.name = "y";
    life.happen(model::JobSubmitted{{2}, spec, {}, {}});
    const model::TaskPlacement place{0, {0}, 1, base::kWholeGpu, {}, {}};
    life.happen(model::JobStarting{{2}, 1, {}, {place}});
    model::PauseRequested request;
    request.job = {2};
    life.happen(request);
    life.happen(model::JobReserved{kJob, model::Rule::Reclaim, life.now, {place}});
    const State restored = lifecycle::restore(lifecycle::snapshot(life.state));
    CHECK(lifecycle::dump(restored.cluster) == lifecycle::dump(life.state.cluster));
}

TEST_CASE("what a node and its others may say of GPUs and resources") {
    Life life;
    const auto error = [&](const model::EventBody& body) {
        const auto possible = lifecycle::check(life.state, body);
        return possible ? std::string("none") : possible.error().message;
    };
    const auto used = [](model::OthersUse use) { return model::NodeUsedByOthers{"n0", use}; };
    CHECK(error(used({{}, {}, 64, {}})) == "none");
    CHECK(error(used({{}, {}, 65, {}})) == "others.gpus: wanted 0 to 64, found 65");
    CHECK(error(used({{}, {}, 1, {0, 1}})) ==
          "others.gpu_indices: wanted at most 1, as many as others.gpus says, found 2");
    CHECK(error(used({{}, {}, 2, {0, 0}})) ==
          "node \"n0\": others.gpu_indices: wanted each of its 2 GPUs at most once, found 0");
    CHECK(error(used({{}, {}, 1, {2}})) ==
          "node \"n0\": others.gpu_indices: wanted each of its 2 GPUs at most once, found 2");
    CHECK(error(used({{}, {}, 0, {}, {{"ib", 1}}})) ==
          "node \"n0\": others.resources: the node does not say how much \"ib\" it has");
    CHECK(error(model::NodeUsedByOthers{"n9", {}}) == "node \"n9\" does not exist");
    model::Node node;
    node.name = "n1";
    for (char name = 'a'; name < 'i'; ++name) node.resources[std::string(1, name)] = 1;
    CHECK(error(model::NodeSet{node}) == "none");
    life.happen(model::NodeSet{node});
    node.resources = {{"i", 1}};
    CHECK(error(model::NodeSet{node}) ==
          "node \"n1\": resources: with the names that nodes have said before, these are more than "
          "the 8 that a cluster may have");
}

TEST_CASE("unknown levels are refused, and those that jobs ask for are kept") {
    Life life;
    const auto error = [&](const model::EventBody& body) {
        const auto possible = lifecycle::check(life.state, body);
        return possible ? std::string("none") : possible.error().message;
    };
    model::JobSpec spec;
    spec.name = "y";
    spec.project = "a";
    spec.topology.required = "rak";
    CHECK(error(model::JobSubmitted{{2}, spec, {}, {}}) ==
          "topology: no level \"rak\"; the levels are zone, block, rack, node");
    spec.topology = {"rack", "zone"};
    CHECK(error(model::JobSubmitted{{2}, spec, {}, {}}) ==
          "topology: wanted a preferred level inside the required one \"rack\", found \"zone\"");
    model::Node node;
    node.name = "n1";
    node.topology = {{"row", "w1"}};
    CHECK(error(model::NodeSet{node}) ==
          "node \"n1\": topology: no level \"row\"; the levels are zone, block, rack, node");
    node.topology.clear();
    node.gpus = 2;
    node.gpu_links.numa = {0};
    CHECK(error(model::NodeSet{node}) ==
          "node \"n1\": numa: wanted one entry for each of 2 GPUs, found 1");
    CHECK(error(model::LevelsSet{{"row", "row"}}) ==
          "levels: \"row\" is there twice; the node itself is always the last");

    spec.topology = {"rack", "node"};
    life.happen(model::JobSubmitted{{2}, spec, {}, {}});
    CHECK(error(model::LevelsSet{{"row"}}) == "job 2 asks for the level \"rack\"; keep it");
    life.happen(model::LevelsSet{{"row", "rack"}});
    CHECK(life.state.cluster.levels().front() == "row");
}

TEST_CASE("a node that is carried to another rack takes its jobs along") {
    Life life;
    life.start(1);
    model::Node node = life.state.cluster.description({0});
    CHECK(node.topology.empty());
    node.topology = {{"rack", "r1"}};
    life.happen(model::NodeSet{node});
    node.topology = {{"rack", "r2"}};
    life.happen(model::NodeSet{node});
    CHECK(life.state.cluster.description({0}) == node);
    const auto restored = lifecycle::restore(lifecycle::snapshot(life.state));
    CHECK(lifecycle::dump(restored.cluster) == lifecycle::dump(life.state.cluster));
}

TEST_CASE("a gang that stops to change its size goes on with what it has then") {
    Life life;
    model::JobSpec spec = life.state.jobs.at(kJob).spec;
    spec.name = "gang";
    spec.tasks_max = 2;
    spec.elastic = model::Elastic::Restart;
    const model::JobId job{2};
    life.happen(model::JobSubmitted{job, spec, {}, {}});
    life.happen(model::JobStarting{job, 1, {}, {{0, {0}, 1, base::kWholeGpu, {}, {}}}});
    life.happen(model::JobRunning{job});
    const auto& record = life.state.jobs.at(job);
    CHECK_FALSE(record.is_resizing());
    CHECK_FALSE(lifecycle::check(life.state, model::JobResized{job, 2, true, 0}).has_value());

    life.happen(model::JobStarting{job, 1, {}, {{1, {0}, 2, base::kWholeGpu, {}, {}}}}, 5000);
    CHECK(record.is_resizing());
    CHECK(record.state == JobState::Running);
    life.happen(model::JobResized{job, 2, false, 5000}, 1000);
    CHECK(record.state == JobState::Starting);
    CHECK(record.attempts == 2);
    CHECK(record.tasks.size() == 2);
    CHECK(record.lost_gpu_ms == 5000);
    CHECK(record.attained_gpu_ms == 7000);
    CHECK_FALSE(record.is_resizing());

    life.happen(model::JobRunning{job});
    model::PauseRequested request;
    request.job = job;
    request.whole_job = false;
    request.tasks = {1};
    life.happen(request);
    CHECK(record.is_resizing());
    life.happen(model::JobResized{job, 3, true, 0});
    CHECK(record.tasks.size() == 1);
    CHECK(record.last_pause->saved);
    CHECK(record.pauses == 0);
    CHECK(life.state.cluster.pool({0}).free_total[0] == base::gpus(1));
}

TEST_CASE("a gang that may grow changes its size, and nothing that cannot be") {
    Life life;
    model::JobSpec spec = life.state.jobs.at(kJob).spec;
    spec.name = "gang";
    spec.tasks_min = spec.tasks_max = 2;
    spec.elastic = model::Elastic::Grow;
    spec.companions = {{.name = "head"}};
    const model::JobId job{2};
    const auto problem = [&](model::JobSizeSet set) {
        set.job = job;
        const auto status = lifecycle::check(life.state, set);
        return status ? std::string() : status.error().message;
    };
    CHECK(problem({.job = {}}) == "job 2 is not known or has ended");
    life.happen(model::JobSubmitted{job, spec, {}, {}});
    CHECK(problem({.job = {}, .tasks = 0}) == "tasks: wanted 1 <= min <= max, found min 0, max 0");
    CHECK(problem({.job = {}, .tasks = 1, .ended = {0}}) ==
          "ended: wanted ranks of tasks that have a place, each once");
    const auto on = [](int rank, std::uint64_t gpus) {
        return model::TaskPlacement{rank, {0}, gpus, base::kWholeGpu, {}, {}};
    };
    life.happen(model::JobStarting{job, 1, {}, {on(0, 1), on(1, 2), on(2, 0)}});
    life.happen(model::JobRunning{job}, 1000);
    CHECK(problem({.job = {}, .tasks = 1}) == "job 2 has 2 tasks with a place, more than 1");
    CHECK(problem({.job = {}, .tasks = 1, .ended = {0, 0}}) ==
          "ended: wanted ranks of tasks that have a place, each once");
    CHECK(problem({.job = {}, .tasks = 2, .ended = {2}}) ==
          "ended: wanted ranks of tasks that have a place, each once");
    CHECK(problem({.job = {}, .tasks = 2, .ended = {0, 1}}) == "job 2 has no other task that runs");

    life.happen(model::JobSizeSet{job, 3, {0}}, 1000);
    const auto& record = life.state.jobs.at(job);
    CHECK(record.spec.tasks_min == 1);
    CHECK(record.spec.tasks_max == 3);
    CHECK(record.tasks == std::vector{on(0, 2), on(3, 0)});  // the head behind all of them
    CHECK(record.attained_gpu_ms == 4000);
    CHECK_FALSE(record.stale_since.has_value());
    CHECK(lifecycle::violations(life.state.cluster).empty());

    model::PauseRequested request;
    request.job = job;
    life.happen(request);
    CHECK(problem({.job = {}, .tasks = 4}) == "job 2 is asked to leave");
    life.happen(model::JobPaused{job, true});
    CHECK(record.spec.tasks_min == 3);  // it starts as a whole again
    life.happen(model::JobSizeSet{job, 2, {}});
    CHECK(record.spec.tasks_min == 2);
    CHECK(life.state.cluster.job(job).lacking == 2);

    const model::JobSizeSet other{kJob, 2, {}};
    CHECK(lifecycle::check(life.state, other).error().message ==
          "job 1 is started with the number of tasks it was submitted with");
}

TEST_CASE("companions are counted apart, a gang that lacks one is short, and none is parked") {
    Life life;
    model::Node node;
    node.name = "c0";
    node.gpus = 0;
    node.cpu = model::MilliCpu{8000};
    life.happen(model::NodeSet{node});
    model::JobSpec spec;
    spec.name = "ray";
    spec.project = "a";
    spec.companions = {{.name = "head", .count = 1}};
    spec.companions[0].request.cpu = model::MilliCpu{5000};
    const base::JobId id{2};
    life.happen(model::JobSubmitted{id, spec, "ann", "train"});
    const cluster::Job& job = life.state.cluster.job(id);
    CHECK(job.ask() == 1);
    CHECK(job.lacking_companions == 1);

    const model::TaskPlacement task{0, {0}, 1, base::kWholeGpu, {}, {}};
    const model::TaskPlacement head{1, {1}, 0, {}, model::MilliCpu{5000}, {}};
    life.happen(model::JobStarting{id, 1, {}, {task, head}});
    life.happen(model::JobRunning{id});
    CHECK(job.active == 1);
    CHECK(job.companions == 1);
    CHECK_FALSE(job.is_short());
    CHECK(life.state.cluster.nodes()[1].cpu.used == 5000);

    const auto parked = lifecycle::check(life.state, model::JobParked{id, {}});
    REQUIRE_FALSE(parked.has_value());
    CHECK(parked.error().message.find("has companions") != std::string::npos);
    spec.park_after = model::Duration{60'000};
    spec.kind = model::JobKind::Build;
    CHECK_FALSE(lifecycle::check(life.state, model::JobSubmitted{{3}, spec, "ann", ""}));

    // Alone it is asked to leave, as where its node is lost.
    model::PauseRequested request;
    request.job = id;
    request.tasks = {1};
    request.whole_job = false;
    life.happen(request);
    CHECK(job.is_releasing());
    life.happen(model::JobPaused{id, true});
    CHECK(job.active == 1);
    CHECK(job.is_short());
    CHECK(job.ask() == 0);
    CHECK(life.state.jobs.at(id).stale_since.has_value());
    CHECK(life.state.cluster.nodes()[1].cpu.used == 0);
    life.happen(model::JobStarting{id, 1, {}, {head}});
    CHECK_FALSE(job.is_short());
    CHECK_FALSE(life.state.jobs.at(id).stale_since.has_value());
}
