// SPDX-License-Identifier: Apache-2.0
//
// How attempts are asked to save and stop.
#include <doctest/doctest.h>
#include <signal.h>

#include "process/world.h"

using namespace berth;
using namespace berth::process_test;

namespace {

// Says "ready" and waits; saves on the given signals by writing their name.
std::string saver(const std::string& signals, const std::string& end = "exit 0") {
    std::string script;
    std::istringstream names(signals);
    for (std::string name; names >> name;)
        script += "trap 'echo saved on " + name + "; " + end + "' " + name + "; ";
    return script + "echo ready; while :; do sleep 0.02; done";
}

bool until_ready(World& world, AttemptId id, int tasks = 1) {
    return world.until([&] {
        for (int rank = 0; rank < tasks; ++rank) {
            if (world.log(id, rank).find("ready\n") == std::string::npos) return false;
        }
        return true;
    });
}

}  // namespace

TEST_CASE("a pause lets every rank save within the grace") {
    ScratchDirectory scratch;
    World world(scratch.path());
    const AttemptId id = attempt(1);
    world.start(shell(id, saver("TERM"), 3));
    REQUIRE(until_ready(world, id, 3));
    world.pause(id);
    const AttemptExit exit = world.exit_of(id);
    CHECK(exit.exit_code == 0);
    CHECK(exit.stop_asked);
    CHECK_FALSE(exit.killed);
    CHECK(exit.detail == "");
    for (int rank = 0; rank < 3; ++rank) CHECK(world.log(id, rank) == "ready\nsaved on TERM\n");
}

TEST_CASE("a rank that ends with an error while saving does not cut the others short") {
    ScratchDirectory scratch;
    World world(scratch.path());
    const AttemptId id = attempt(1);
    world.start(shell(id,
                      "trap '[ $RANK = 0 ] && exit 9; sleep 0.3; echo saved; exit 0' TERM; "
                      "echo ready; while :; do sleep 0.02; done",
                      2));
    REQUIRE(until_ready(world, id, 2));
    world.pause(id);
    const AttemptExit exit = world.exit_of(id);
    CHECK(exit.exit_code == 9);
    CHECK(exit.stop_asked);
    CHECK(world.log(id, 1) == "ready\nsaved\n");
}

TEST_CASE("what does not stop is killed after the grace") {
    ScratchDirectory scratch;
    World world(scratch.path());
    const AttemptId id = attempt(1);
    world.start(shell(id, "trap '' TERM; echo ready; while :; do sleep 0.02; done", 2));
    REQUIRE(until_ready(world, id, 2));
    const auto begin = std::chrono::steady_clock::now();
    world.pause(id, 300);
    const AttemptExit exit = world.exit_of(id);
    const auto took = std::chrono::steady_clock::now() - begin;
    CHECK(exit.exit_code == 128 + SIGKILL);
    CHECK(exit.stop_asked);
    CHECK(exit.killed);
    CHECK(took >= std::chrono::milliseconds(299));
}

TEST_CASE("a job without a handler stops at once and says that its work is lost") {
    ScratchDirectory scratch;
    World world(scratch.path());
    world.start(order_of(attempt(1), {"sleep", "600"}));
    REQUIRE(world.until_running(attempt(1)));
    world.pause(attempt(1));
    const AttemptExit exit = world.exit_of(attempt(1));
    CHECK(exit.signal == SIGTERM);
    CHECK(exit.stop_asked);
    CHECK_FALSE(exit.killed);
    CHECK(exit.detail == "the job does not handle SIGTERM; work since its last checkpoint is lost");
}

TEST_CASE("a trainer below a shell saves although the shell is gone") {
    ScratchDirectory scratch;
    World world(scratch.path());
    const AttemptId id = attempt(1);
    world.start(shell(id,
                      "python3 -c 'import signal,sys,time\n"
                      "def save(*_):\n  time.sleep(0.3); print(\"saved\", flush=True)\n"
                      "  sys.exit(0)\n"
                      "signal.signal(signal.SIGTERM, save)\n"
                      "print(\"ready\", flush=True)\ntime.sleep(600)'; echo next command"));
    REQUIRE(until_ready(world, id));
    world.pause(id);
    const AttemptExit exit = world.exit_of(id);
    CHECK(exit.stop_asked);
    CHECK_FALSE(exit.killed);
    CHECK(exit.detail.find("is lost") == std::string::npos);
    CHECK(world.log(id) == "ready\nsaved\n");
}

TEST_CASE("a handler's own children are left to it") {
    ScratchDirectory scratch;
    World world(scratch.path());
    const AttemptId id = attempt(1);
    world.start(shell(id,
                      "sleep 600 & child=$!; trap 'kill -0 $child && echo loader lives; "
                      "exit 0' TERM; echo ready; while :; do wait $child; done"));
    REQUIRE(until_ready(world, id));
    world.pause(id);
    const AttemptExit exit = world.exit_of(id);
    CHECK(exit.exit_code == 0);
    CHECK_FALSE(exit.killed);
    CHECK(world.log(id) == "ready\nloader lives\n");
}

TEST_CASE("auto asks with the signal that the framework listens to") {
    struct Case {
        const char* handled;
        const char* variable;
        const char* saved_on;
    };
    const Case cases[] = {
        {"TERM USR1 USR2", "PLAIN=1", "TERM"},
        {"TERM USR2", "SUBMITIT_EXECUTOR=slurm", "USR2"},
        {"TERM", "SUBMITIT_EXECUTOR=slurm", "TERM"},
        {"TERM USR1", "SLURM_NTASKS=1", "USR1"},
        {"TERM", "SLURM_NTASKS=1", "TERM"},
    };
    ScratchDirectory scratch;
    World world(scratch.path());
    std::int64_t job = 0;
    for (const Case& example : cases) {
        const AttemptId id = attempt(++job);
        ports::LaunchOrder order = shell(id, saver(example.handled));
        order.spec.environment.push_back(example.variable);
        world.start(order);
        REQUIRE(until_ready(world, id));
        world.pause(id);
        CHECK(world.exit_of(id).exit_code == 0);
        CHECK(world.log(id) == std::string("ready\nsaved on ") + example.saved_on + "\n");
    }
}

TEST_CASE("a chosen signal is used, and none kills at once") {
    ScratchDirectory scratch;
    World world(scratch.path());
    ports::LaunchOrder order = shell(attempt(1), saver("TERM INT"));
    order.spec.pause.signal = "INT";
    world.start(order);
    REQUIRE(until_ready(world, attempt(1)));
    world.pause(attempt(1));
    CHECK(world.exit_of(attempt(1)).exit_code == 0);
    CHECK(world.log(attempt(1)) == "ready\nsaved on INT\n");

    order = shell(attempt(2), saver("TERM"));
    order.spec.pause.signal = "none";
    world.start(order);
    REQUIRE(until_ready(world, attempt(2)));
    world.pause(attempt(2));
    const AttemptExit exit = world.exit_of(attempt(2));
    CHECK(exit.killed);
    CHECK(exit.signal == SIGKILL);
}

TEST_CASE("cancel asks with TERM whatever pauses use, and may shorten a pause") {
    ScratchDirectory scratch;
    World world(scratch.path());
    ports::LaunchOrder order = shell(attempt(1), saver("TERM USR1", "echo still here"));
    order.spec.pause.signal = "USR1";
    world.start(order);
    REQUIRE(until_ready(world, attempt(1)));
    world.pause(attempt(1), 600'000);
    REQUIRE(world.until([&] { return world.log(attempt(1)).find("USR1") != std::string::npos; }));
    world.pause(attempt(1), 600'000);  // asking twice changes nothing
    world.launcher().stop(attempt(1), ports::StopReason::Cancel, base::Duration{500'000});
    REQUIRE(world.until(
        [&] { return world.log(attempt(1)).ends_with("saved on TERM\nstill here\n"); }));
    world.launcher().stop(attempt(1), ports::StopReason::Cancel, base::Duration{0});
    const AttemptExit exit = world.exit_of(attempt(1));
    CHECK(exit.killed);
    CHECK(world.log(attempt(1)) == "ready\nsaved on USR1\nstill here\nsaved on TERM\nstill here\n");
}

TEST_CASE("stopping what has ended or never was is harmless") {
    ScratchDirectory scratch;
    World world(scratch.path());
    CHECK(world.run(shell(attempt(1), "true")).exit_code == 0);
    world.pause(attempt(1));
    world.pause(attempt(2));
    CHECK(world.run(shell(attempt(3), "true")).exit_code == 0);
    CHECK(world.reports == 2);
}

TEST_CASE("a machine that goes down lets jobs save") {
    ScratchDirectory scratch;
    World world(scratch.path());
    world.start(shell(attempt(1), saver("TERM")));
    REQUIRE(until_ready(world, attempt(1)));
    ::kill(world.supervisor_of(attempt(1)), SIGTERM);
    const AttemptExit exit = world.exit_of(attempt(1));
    CHECK(exit.exit_code == 0);
    CHECK(exit.stop_asked);
    CHECK(world.log(attempt(1)) == "ready\nsaved on TERM\n");
}
