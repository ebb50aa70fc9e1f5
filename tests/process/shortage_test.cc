// SPDX-License-Identifier: Apache-2.0
//
// There is no process to be had for a while: whatever needs it, the attempt waits and says so.
#include "supervision/shortage.h"

#include <doctest/doctest.h>
#include <errno.h>

#include "process/ordinary_user.h"
#include "process/world.h"

using namespace berth;
using namespace berth::process_test;

namespace {

constexpr rlim_t kEnough = 1'000;
const bool can_not = !OrdinaryUser::is_possible();

// Until it says what it waits for.
std::string lack_of(World& world, AttemptId id) {
    world.until([&] { return !world.launcher().waits_for(id).empty() || world.is_over(id); });
    CHECK_FALSE(world.is_over(id));
    return world.launcher().waits_for(id);
}

constexpr const char* kLack = "cannot make a process: Resource temporarily unavailable";

}  // namespace

TEST_CASE("what the machine lacks for now differs from what is wrong") {
    for (const int error : {EAGAIN, ENOMEM, ENFILE, ENOSPC, EDQUOT}) {
        CHECK(supervision::is_shortage(error));
    }
    for (const int error : {0, ENOENT, EACCES, ENOEXEC, EMFILE}) {
        CHECK_FALSE(supervision::is_shortage(error));
    }
}

TEST_CASE("without a process for the spawner an attempt waits" * doctest::skip(can_not)) {
    ScratchDirectory scratch;
    const std::string supervisor = OrdinaryUser::within_reach(scratch.path(), BERTH_SUPERVISOR);
    OrdinaryUser user(scratch.path());
    World world(scratch.path(), supervisor);
    const AttemptId id = attempt(1);
    OrdinaryUser::allow(1);
    world.start(shell(id, "echo ran"));
    CHECK(lack_of(world, id).starts_with(kLack));
    CHECK(world.status(id).find("exit") == std::string::npos);
    OrdinaryUser::allow(kEnough);
    CHECK(world.exit_of(id).exit_code == 0);
    CHECK(world.log(id) == "ran\n");
}

TEST_CASE("without a process for its supervisor it comes back as never started, not at once" *
          doctest::skip(can_not)) {
    ScratchDirectory scratch;
    const std::string supervisor = OrdinaryUser::within_reach(scratch.path(), BERTH_SUPERVISOR);
    OrdinaryUser user(scratch.path());
    World world(scratch.path(), supervisor);
    const AttemptId id = attempt(1);
    OrdinaryUser::allow(2);
    world.start(shell(id, "echo ran"));
    CHECK(lack_of(world, id).starts_with(kLack));
    REQUIRE(world.until([&] { return world.is_over(id); }));
    CHECK(world.lost[id] == ports::kNeverStarted);

    SUBCASE("and runs when it is started again") {
        OrdinaryUser::allow(kEnough, OrdinaryUser::youngest_child());
        world.lost.clear();
        CHECK(world.run(shell(id, "echo ran")).exit_code == 0);
        CHECK(world.log(id) == "ran\n");
    }
    SUBCASE("and is over when it is stopped meanwhile") {
        world.lost.clear();
        world.start(shell(id, "echo ran"));
        CHECK(lack_of(world, id).starts_with(kLack));
        world.pause(id);
        REQUIRE(world.until([&] { return world.is_over(id); }));
        CHECK(world.lost[id] == ports::kNeverStarted);
    }
}

TEST_CASE("without a process for its command it waits below its supervisor" *
          doctest::skip(can_not)) {
    ScratchDirectory scratch;
    const std::string supervisor = OrdinaryUser::within_reach(scratch.path(), BERTH_SUPERVISOR);
    OrdinaryUser user(scratch.path());
    World world(scratch.path(), supervisor);
    const AttemptId id = attempt(1);
    OrdinaryUser::allow(3);
    world.start(shell(id, "echo ran"));
    CHECK(lack_of(world, id).starts_with(kLack));

    SUBCASE("and runs when there is one") {
        OrdinaryUser::allow(kEnough, world.supervisor_of(id));
        CHECK(world.exit_of(id).exit_code == 0);
        CHECK(world.log(id) == "ran\n");
        CHECK(world.launcher().waits_for(id).empty());
    }
    SUBCASE("and is over when it is stopped") {
        world.pause(id);
        const AttemptExit exit = world.exit_of(id);
        CHECK(exit.stop_asked);
        CHECK(exit.detail == "stopped before it was started");
        CHECK(world.log(id).empty());
    }
    SUBCASE("which a later server hears as well") {
        world.drop_launcher();
        World later(scratch.path());
        later.recover({id});
        CHECK(lack_of(later, id).starts_with(kLack));
        OrdinaryUser::allow(kEnough, later.supervisor_of(id));
        CHECK(later.exit_of(id).exit_code == 0);
    }
}

TEST_CASE("of a gang all tasks run or none" * doctest::skip(can_not)) {
    ScratchDirectory scratch;
    const std::string supervisor = OrdinaryUser::within_reach(scratch.path(), BERTH_SUPERVISOR);
    OrdinaryUser user(scratch.path());
    World world(scratch.path(), supervisor);
    const AttemptId id = attempt(1);
    OrdinaryUser::allow(5);
    world.start(shell(id, "sleep 0.2; echo ran", 3));  // one is lacking
    CHECK(lack_of(world, id).starts_with(kLack));

    SUBCASE("it runs when there are enough") {
        OrdinaryUser::allow(kEnough, world.supervisor_of(id));
        CHECK(world.exit_of(id).exit_code == 0);
        for (int rank = 0; rank < 3; ++rank) CHECK(world.log(id, rank).ends_with("ran\n"));
    }
    SUBCASE("it is over when it is stopped") {
        world.pause(id);
        const AttemptExit exit = world.exit_of(id);
        CHECK(exit.stop_asked);
        CHECK_FALSE(exit.killed);
        CHECK(exit.detail == "stopped before it was started");
    }
}
