// SPDX-License-Identifier: Apache-2.0
//
// What the loop does while there is no room: for more work, or for the log itself.
#include <doctest/doctest.h>

#include "control/world.h"

using namespace berth;
using base::ErrorCode;
using model::JobId;
using model::JobState;
using tests::World;

namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

ports::Room room_with(std::int64_t free_mib) {
    return {"/data", base::Bytes{free_mib * kMebibyte}, base::Bytes{64 * kMebibyte}};
}

void look_again(World& world) {
    world.clock.advance(control::kRoomLook);
    world.step();
}

model::Submission keyed_job(const std::string& key) {
    model::Submission submission = World::job_of("a", 1);
    submission.key = key;
    return submission;
}

ports::AttemptExit ended_with(int code) { return {.exit_code = code, .detail = {}}; }

}  // namespace

TEST_CASE("without room nothing new is taken up, and the cause is reported with what to do") {
    World world;
    world.store.set_room(room_with(10));
    look_again(world);
    const auto answer = world.submit(World::job_of("a", 1));
    world.step();
    REQUIRE(answer->refusal.has_value());
    CHECK(answer->refusal->error.code == ErrorCode::Exhausted);
    CHECK(answer->refusal->error.message ==
          "the disk is full: \"/data\" has 10M free, 64M are wanted; nothing new is taken up "
          "until there is room; free some (logs of jobs lie in \"/data/jobs\") and it goes on "
          "by itself");
    CHECK(world.set_project("c", 1).error().code == ErrorCode::Exhausted);
    CHECK(world.controller->state().jobs.empty());
    CHECK_FALSE(world.controller->has_failed());
}

TEST_CASE("without room for files the error says how many there are and how many are wanted") {
    World world;
    ports::Room room = room_with(1000);
    room.files = 15;
    world.store.set_room(room);
    look_again(world);
    const auto answer = world.submit(World::job_of("a", 1));
    world.step();
    REQUIRE(answer->refusal.has_value());
    CHECK(answer->refusal->error.message.starts_with(
        "the disk is full: \"/data\" has room for 15 more files, 16 are wanted (inodes); "));
    room.files = 16;
    world.store.set_room(room);
    look_again(world);
    const auto taken = world.submit(World::job_of("a", 1));
    world.step();
    CHECK(taken->job.is_valid());
}

TEST_CASE("without room running jobs go on, may be cancelled, and their ends are written down") {
    World world;
    const JobId ends = world.run("a", 1);
    const JobId goes = world.run("a", 1);
    world.store.set_room(room_with(10));
    look_again(world);
    world.exits(ends, ended_with(3));
    CHECK(world.state(ends) == JobState::Failed);
    REQUIRE(world.cancel(goes));
    world.exits(goes, tests::saved_and_left());
    CHECK(world.state(goes) == JobState::Cancelled);
}

TEST_CASE("without room no waiting job is started, and with room all goes on by itself") {
    World world;
    const JobId first = world.run("a", 4);
    const JobId second = world.run("b", 4);
    const auto waits = world.submit(World::job_of("a", 4));
    world.step();
    world.store.set_room(room_with(10));
    look_again(world);
    world.exits(first, {});
    CHECK(world.state(waits->job) == JobState::Queued);
    CHECK(world.controller->next_deadline() == world.clock.now() + control::kRoomLook);
    // More than just enough: what begins again does not end at once.
    world.store.set_room(room_with(100));
    look_again(world);
    CHECK(world.state(waits->job) == JobState::Queued);
    world.store.set_room(room_with(128));
    look_again(world);
    CHECK_FALSE(world.controller->shortage().has_value());
    CHECK(world.state(waits->job) == JobState::Starting);
    CHECK(world.state(second) == JobState::Running);
}

TEST_CASE("a key that was used is answered with its job, room or not") {
    World world;
    const auto first = world.submit(keyed_job("k"));
    world.step();
    world.store.set_room(room_with(10));
    look_again(world);
    const auto again = world.submit(keyed_job("k"));
    world.step();
    CHECK(again->job == first->job);
}

TEST_CASE("a batch that the log has no room for is written later, and nothing happens before") {
    World world;
    world.store.set_full(true);
    const auto answer = world.submit(keyed_job("k"));
    world.step();
    REQUIRE(answer->refusal.has_value());
    CHECK(answer->refusal->error.code == ErrorCode::Unavailable);
    CHECK(world.launcher->starts.empty());
    CHECK_FALSE(world.controller->has_failed());
    CHECK(world.disk.launches.empty());

    SUBCASE("asked again with its key, it is still not known") {
        const auto again = world.submit(keyed_job("k"));
        const auto other = world.submit(keyed_job("other"));
        world.step();
        CHECK(again->refusal->error.code == ErrorCode::Unavailable);
        CHECK(other->refusal->error.code == ErrorCode::Exhausted);
    }
    world.store.set_full(false);
    look_again(world);
    look_again(world);
    CHECK(world.launcher->starts.size() == 1);
    CHECK(world.count("job_submitted") == 1);
    const auto again = world.submit(keyed_job("k"));
    world.step();
    CHECK(again->job == JobId{1});
    CHECK(world.count("job_submitted") == 1);
}

TEST_CASE("while the log has no room, the ends of jobs wait and are not lost") {
    World world;
    const JobId one = world.run("a", 1);
    const JobId two = world.run("a", 1);
    world.store.set_full(true);
    world.exits(one, ended_with(1));
    world.exits(two, ended_with(2));
    CHECK(world.disk.finished.empty());
    CHECK(world.cancel(two).error().code == ErrorCode::Exhausted);
    // Only the next look is waited for.
    CHECK(*world.controller->next_deadline() > world.clock.now());
    world.store.set_full(false);
    look_again(world);
    CHECK(world.disk.finished.at(one).exit_code == 1);
    CHECK(world.disk.finished.at(two).exit_code == 2);
}

TEST_CASE("after a restart on a full disk the log alone counts") {
    World world;
    const JobId job = world.run("a", 1);
    world.store.set_full(true);
    world.exits(job, ended_with(1));
    world.restart();
    CHECK(world.state(job) == JobState::Running);
    CHECK(world.launcher->recovered == std::vector{world.attempt(job)});
}
