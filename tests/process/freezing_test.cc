// SPDX-License-Identifier: Apache-2.0
//
// What a supervisor does with what its node's freezer answers, or does not. The freezer is played
// here; tests/vgpu/freezer has the real one, tests/end_to_end/freezing_test.py both together.
#include "supervision/freezing.h"

#include <doctest/doctest.h>

#include "process/played_freezer.h"
#include "process/world.h"

using namespace berth::process_test;
using berth::supervision::FrameType;
using berth::supervision::FreezerOutcome;
using berth::supervision::GpuMove;

namespace {

// A job that says where it is and counts what it is sent; its freezer.
struct FreezingStage {
    ScratchDirectory data;
    World world{data.path()};
    Freezer freezer{data.path()};
    berth::ports::LaunchOrder order =
        shell(attempt(1), "trap 'echo saved; exit 0' TERM; echo $$ > " + data.path() +
                              "/pid; while :; do sleep 0.02; done");

    FreezingStage() {
        order.freezer = freezer.socket();
        world.start(order);
        REQUIRE(world.until_running(attempt(1)));
        REQUIRE(wait_for([&] { return !read_file(data.path() + "/pid").empty(); }));
    }
    int pid() { return std::stoi(read_file(data.path() + "/pid")); }
    void ask(FrameType type) {
        REQUIRE(world.until([&] { return freezer.is_asked(type); }));
    }
    void freeze() {
        world.pause(attempt(1));
        ask(FrameType::Freeze);
        freezer.answer(FreezerOutcome::Done);
        REQUIRE(world.until([&] { return world.frozen.contains(attempt(1)); }));
    }
};

}  // namespace

TEST_CASE("a pause that the freezer serves keeps the processes, until they go on elsewhere") {
    FreezingStage it;
    it.freeze();
    CHECK(it.world.frozen[attempt(1)] ==
          berth::model::Frozen{berth::base::Bytes{5}, berth::base::Duration{7}});
    CHECK(is_living(it.pid()));
    CHECK_FALSE(it.world.is_over(attempt(1)));
    it.world.running.clear();
    it.order.tasks[0].gpu_indices = {3};
    it.world.launcher().resume(it.order);
    it.ask(FrameType::Thaw);
    CHECK(it.freezer.moves == std::vector{GpuMove{0, 3}});
    CHECK(it.world.running.empty());
    it.freezer.answer(FreezerOutcome::Done);
    REQUIRE(it.world.until_running(attempt(1)));
    // The next pause is from where it is now.
    it.world.frozen.clear();
    it.freeze();
    it.order.tasks[0].gpu_indices = {1};
    it.world.launcher().resume(it.order);
    it.ask(FrameType::Thaw);
    CHECK(it.freezer.moves == std::vector{GpuMove{3, 1}});
    it.freezer.answer(FreezerOutcome::Done);
}

TEST_CASE("a refusal becomes a signal, and its reason is reported") {
    FreezingStage it;
    it.world.pause(attempt(1));
    it.ask(FrameType::Freeze);
    it.freezer.answer(FreezerOutcome::Undone, "it has managed memory");
    const AttemptExit exit = it.world.exit_of(attempt(1));
    CHECK(exit.stop_asked);
    CHECK_FALSE(exit.killed);
    CHECK(exit.detail == "no checkpoint: it has managed memory");
    CHECK(it.world.frozen.empty());
}

TEST_CASE("a job that is lost on the way is killed, and is said to have been asked") {
    FreezingStage it;
    it.world.pause(attempt(1));
    it.ask(FrameType::Freeze);
    it.freezer.answer(FreezerOutcome::Lost, "process 7: gone");
    const AttemptExit exit = it.world.exit_of(attempt(1));
    CHECK(exit.stop_asked);
    CHECK(exit.killed);
    CHECK(exit.detail == "it could not be taken off its GPUs: process 7: gone");
}

TEST_CASE("a freezer that dies is asked again; one that never answers costs the job at its grace") {
    FreezingStage it;
    it.world.pause(attempt(1));
    it.ask(FrameType::Freeze);
    it.freezer.hang_up();
    it.ask(FrameType::Freeze);
    it.freezer.answer(FreezerOutcome::Done);
    REQUIRE(it.world.until([&] { return it.world.frozen.contains(attempt(1)); }));
    FreezingStage other;
    other.world.pause(attempt(1), 300);
    other.ask(FrameType::Freeze);
    const AttemptExit exit = other.world.exit_of(attempt(1));
    CHECK(exit.killed);
    CHECK(exit.detail == "the freezer did not take it off its GPUs in time");
}

TEST_CASE("where no freezer is, a job saves and stops by signal") {
    const ScratchDirectory data;
    World world(data.path());
    auto order = shell(attempt(1), "trap 'exit 0' TERM; echo on; while :; do sleep 0.02; done");
    order.freezer = "berth-test-missing";
    world.start(order);
    REQUIRE(world.until_running(attempt(1)));
    world.pause(attempt(1), 20'000);
    const AttemptExit exit = world.exit_of(attempt(1));
    CHECK(exit.detail.starts_with("no checkpoint: the freezer cannot be reached"));
}

TEST_CASE("no room to come back to is waited for; processes that cannot come back are ended") {
    FreezingStage it;
    it.freeze();
    it.world.launcher().resume(it.order);
    it.ask(FrameType::Thaw);
    it.freezer.answer(FreezerOutcome::Undone, "CUDA_ERROR_OUT_OF_MEMORY");
    it.ask(FrameType::Thaw);
    CHECK(is_living(it.pid()));
    it.freezer.answer(FreezerOutcome::Lost, "the driver gave up a process");
    const AttemptExit exit = it.world.exit_of(attempt(1));
    CHECK(exit.stop_asked);
    CHECK(exit.detail == "it could not be put back on its GPUs: the driver gave up a process");
}

TEST_CASE("the next server learns that an attempt is frozen, and may resume it") {
    FreezingStage it;
    it.freeze();
    it.world.drop_launcher();
    World next(it.data.path());
    next.recover({attempt(1)});
    REQUIRE(next.until([&] { return next.frozen.contains(attempt(1)); }));
    CHECK(next.running.empty());
    next.launcher().resume(it.order);
    REQUIRE(next.until([&] { return it.freezer.is_asked(FrameType::Thaw); }));
    it.freezer.answer(FreezerOutcome::Done);
    CHECK(next.until_running(attempt(1)));
}

TEST_CASE(
    "a frozen attempt that is cancelled ends at once, one on its way as soon as it is there") {
    FreezingStage it;
    it.freeze();
    const int pid = it.pid();
    it.world.launcher().stop(attempt(1), berth::ports::StopReason::Cancel,
                             berth::base::Duration{60'000});
    CHECK(it.world.exit_of(attempt(1)).detail == "it was ended while it was off its GPUs");
    CHECK_FALSE(is_living(pid));
    FreezingStage other;
    other.world.pause(attempt(1));
    other.ask(FrameType::Freeze);
    other.world.launcher().stop(attempt(1), berth::ports::StopReason::Cancel,
                                berth::base::Duration{60'000});
    other.freezer.answer(FreezerOutcome::Done);
    CHECK(other.world.exit_of(attempt(1)).stop_asked);
}

TEST_CASE("an attempt that is to end saves and stops, whatever its freezer could do") {
    FreezingStage it;
    it.world.launcher().stop(attempt(1), berth::ports::StopReason::Restart,
                             berth::base::Duration{10'000});
    const AttemptExit exit = it.world.exit_of(attempt(1));
    CHECK(exit.exit_code == 0);
    CHECK(exit.stop_asked);
    CHECK(it.world.frozen.empty());
}
