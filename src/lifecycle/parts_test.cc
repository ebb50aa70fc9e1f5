// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/parts.h"

#include <doctest/doctest.h>

#include "lifecycle/invariants.h"

using namespace berth;

namespace {

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;

model::GpuProfile half_idle(std::int64_t compute = 500) {
    return {
        100, 100'000, base::MilliGpu{compute}, {4 * kGibibyte}, {20 * kGibibyte}, {20 * kGibibyte}};
}

model::TaskRequest part(std::int64_t share, std::int64_t gibibytes = 0) {
    model::TaskRequest request;
    request.share = base::MilliGpu{share};
    request.gpu_memory = {gibibytes * kGibibyte};
    return request;
}

struct World {
    lifecycle::State state;

    World() {
        model::Node node;
        node.name = "n0";
        node.gpus = 2;
        node.gpu_memory = {80 * kGibibyte};
        happen(model::NodeSet{node});
        model::Project project;
        project.name = "p";
        happen(model::ProjectSet{project});
    }

    void happen(model::EventBody body) {
        const model::TimePoint time{model::Duration{1000 * state.sequence}};
        const auto done =
            lifecycle::try_apply(state, {state.sequence + 1, time, "machine", std::move(body)});
        REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
        for (const std::string& found : lifecycle::violations(state.cluster)) FAIL(found);
        const lifecycle::State again = lifecycle::restore(lifecycle::snapshot(state));
        CHECK(lifecycle::dump(again.cluster) == lifecycle::dump(state.cluster));
        CHECK(again.sharing == state.sharing);
    }

    void submit(int id, bool may_share = true) {
        model::JobSpec spec;
        spec.project = "p";
        spec.name = "train";
        spec.may_share = may_share;
        happen(model::JobSubmitted{model::JobId{id}, spec, "ana", "train"});
    }

    // With a share of a GPU.
    void submit(int id, const model::TaskRequest& request) {
        model::JobSpec spec;
        spec.project = "p";
        spec.name = "train";
        spec.request = request;
        happen(model::JobSubmitted{model::JobId{id}, spec, "ana", "train"});
    }

    model::JobRecord& job(int id) { return state.jobs.at(model::JobId{id}); }

    // Empty: it is possible.
    std::string refusal(int id, const model::TaskRequest& request, bool requeue = false) const {
        const auto possible =
            lifecycle::check(state, model::JobRequestSet{model::JobId{id}, request, requeue, ""});
        return possible ? "" : possible.error().message;
    }

    void set(int id, const model::TaskRequest& request, bool requeue = false) {
        happen(model::JobRequestSet{model::JobId{id}, request, requeue, ""});
    }

    void start(int id, int gpu) {
        const base::ShapeId shape = state.cluster.job(model::JobId{id}).shape;
        const auto task = state.cluster.task_on(shape, {0}, std::uint64_t{1} << gpu);
        happen(model::JobStarting{model::JobId{id}, 1, {}, {task}});
        happen(model::JobRunning{model::JobId{id}});
    }

    void pause(int id) {
        model::PauseRequested request;
        request.job = model::JobId{id};
        happen(request);
    }

    std::int64_t share_of(int id) {
        const model::JobId job{id};
        return model::share_of(state.cluster.shape(state.cluster.job(job).shape).request,
                               state.cluster.description({0}))
            ->value;
    }
};

}  // namespace

TEST_CASE("a job that runs alone gives back what it was measured not to need, where it stands") {
    World world;
    world.submit(1);
    world.start(1, 0);
    CHECK(world.share_of(1) == 1000);
    world.happen(model::JobMeasured{model::JobId{1}, half_idle()});
    CHECK(world.share_of(1) == 416);
    CHECK(world.state.jobs.at(model::JobId{1}).tasks.front().share.value == 416);
    CHECK(world.state.cluster.compute_left(cluster::View::Idle, {0}, 0).value == 584);
}

TEST_CASE("jobs alike that wait count as what one of them was measured to take") {
    World world;
    world.submit(1);
    world.submit(2);
    world.submit(3, false);
    world.start(1, 0);
    world.happen(model::JobMeasured{model::JobId{1}, half_idle()});
    CHECK(world.share_of(2) == 416);
    CHECK(world.share_of(3) == 1000);
    world.submit(4);
    CHECK(world.share_of(4) == 416);
}

TEST_CASE("a packed job stays what it is until it has left its GPU, whatever is measured") {
    World world;
    world.submit(1);
    world.start(1, 0);
    world.happen(model::JobMeasured{model::JobId{1}, half_idle()});
    world.happen(model::JobMeasured{model::JobId{1}, half_idle(900)});
    CHECK(world.share_of(1) == 416);
    world.pause(1);
    world.happen(model::JobPaused{model::JobId{1}, true});
    CHECK(world.share_of(1) == 1000);
}

TEST_CASE("jobs that parted share no more, and neither do jobs like the one that left") {
    World world;
    world.submit(1);
    world.start(1, 0);
    world.happen(model::JobMeasured{model::JobId{1}, half_idle()});
    world.submit(2);
    world.start(2, 0);
    world.happen(model::JobsParted{model::JobId{2}, model::JobId{1}});
    world.pause(2);
    CHECK(world.share_of(2) == 416);
    world.happen(model::JobPaused{model::JobId{2}, true});
    CHECK(world.share_of(2) == 1000);
    world.submit(3);
    CHECK(world.share_of(3) == 1000);
    CHECK_FALSE(lifecycle::check(world.state, model::JobsParted{model::JobId{3}, {}}));
}

TEST_CASE("only a one-GPU train job that can be paused may say that it shares") {
    World world;
    model::JobSpec spec;
    spec.project = "p";
    spec.may_share = true;
    spec.request.gpus = 2;
    const auto refused =
        lifecycle::check(world.state, model::JobSubmitted{model::JobId{9}, spec, "ana", "x"});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().message.find("may_share: wanted a train job") != std::string::npos);
}

TEST_CASE("a running job gets another part of its GPU where it stands, and others the rest") {
    World world;
    world.submit(1, part(500));
    world.start(1, 0);
    world.set(1, part(250));
    CHECK(world.job(1).spec.request == part(250));
    CHECK(world.job(1).submitted_request == part(500));
    CHECK(world.job(1).tasks[0].share == base::MilliGpu{250});
    CHECK(world.job(1).tasks[0].gpu_memory.value == 20 * kGibibyte);
    CHECK(world.state.cluster.free_part(cluster::View::Idle, {0}, 0) ==
          model::GpuPart{base::MilliGpu{750}, {60 * kGibibyte}});
    world.set(1, part(1000));
    CHECK(world.job(1).tasks[0].gpus() == base::gpus(1));
    world.set(1, part(100, 40));
    CHECK(world.job(1).tasks[0].gpus() == base::MilliGpu{500});
}

TEST_CASE("what does not fit where it runs is refused with what would") {
    World world;
    world.submit(1, part(500));
    world.submit(2, part(250));
    world.start(1, 0);
    world.start(2, 0);
    CHECK(world.refusal(1, part(750)).empty());
    CHECK(world.refusal(1, part(751)) ==
          "job 1 cannot have that where it runs: GPU 0 of node n0 has room for at most 0.75");
    CHECK(world.refusal(1, part(250, 61)) ==
          "job 1 cannot have that where it runs: GPU 0 of node n0 has room for at most 0.75");
    auto two = part(500);
    two.gpus = 2;
    CHECK(world.refusal(1, two) ==
          "job 1 runs with 1 GPU for each task, which stay as many until it has left them");
    auto capped = part(500);
    capped.cap = base::MilliGpu{400};
    CHECK(world.refusal(1, capped) == "cap: wanted 0.5 to 1, found 0.4");
}

TEST_CASE("what is promised to another job is not had by one that grows") {
    World world;
    world.submit(1, part(500));
    world.submit(2, part(500));
    world.start(1, 0);
    const base::ShapeId shape = world.state.cluster.job(model::JobId{2}).shape;
    world.happen(model::JobReserved{model::JobId{2},
                                    model::Rule::Reclaim,
                                    model::TimePoint{model::Duration{60'000}},
                                    {world.state.cluster.task_on(shape, {0}, 1)}});
    CHECK(world.refusal(1, part(501)) ==
          "job 1 cannot have that where it runs: GPU 0 of node n0 has room for at most 0.5");
}

TEST_CASE("one that waits asks for anything; one that is to leave first does so when it has") {
    World world;
    world.submit(1, part(500));
    auto two = part(1000);
    two.gpus = 2;
    world.set(1, two);
    CHECK(world.job(1).spec.request == two);
    world.set(1, part(500));
    world.start(1, 0);
    world.set(1, two, true);
    CHECK(world.job(1).spec.request == part(500));
    CHECK(world.job(1).next_request == two);
    world.pause(1);
    CHECK(world.refusal(1, part(250)) == "job 1 is asked to leave its GPUs; wait until it has");
    world.happen(model::JobPaused{model::JobId{1}, true});
    CHECK(world.job(1).spec.request == two);
    CHECK_FALSE(world.job(1).next_request);
}

TEST_CASE("what is kept off its GPUs keeps room for what its processes have") {
    World world;
    world.submit(1, part(500));
    world.start(1, 0);
    world.pause(1);
    model::JobPaused paused{model::JobId{1}, true};
    paused.frozen = model::Frozen{{30 * kGibibyte}, model::Duration{300}};
    world.happen(paused);
    CHECK(world.refusal(1, part(250)) ==
          "job 1 is kept off its GPUs with 30G of GPU memory, more than 20G");
    auto two = part(500);
    two.gpus = 2;
    CHECK(world.refusal(1, two) ==
          "job 1 is kept off its GPUs with its processes, which know 1 GPU for each task");
    world.set(1, part(750));
    CHECK(world.job(1).spec.request == part(750));
}
