// SPDX-License-Identifier: Apache-2.0
//
// Jobs whose processes use GPUs beside their shares, and nodes that keep none.
#include <doctest/doctest.h>

#include "control/world.h"

using berth::base::MilliGpu;
using berth::model::JobId;
using berth::model::JobState;
using berth::model::Reason;
using berth::ports::StopReason;
using berth::tests::World;

namespace {

const std::string kWhat = "process 77 holds 60G of GPU 0 of n0";

struct Escaping : World {
    void escapes(JobId id) {
        launcher->listener().on_escaped(attempt(id), kWhat);
        step();
    }

    void set_lack(const std::string& lack) {
        for (std::uint32_t node : {0U, 1U}) {
            auto known = controller->state().cluster.description({node});
            known.shares_lack = lack;
            controller->set_node(known, "machine", [](const auto&) {});
        }
        step();
    }

    std::shared_ptr<Answer> submit_half() {
        auto wanted = job_of("a", 1);
        wanted.spec.request.share = MilliGpu{500};
        auto answer = submit(wanted);
        step();
        return answer;
    }
};

}  // namespace

TEST_CASE("an escape is in the log once and said once in the job's own, also across a crash") {
    Escaping world;
    const JobId job = world.run("a", 1);
    world.escapes(job);
    world.escapes(job);
    world.restart();
    world.escapes(job);
    CHECK(world.count("job_escaped") == 1);
    CHECK(world.job(job).escaped == kWhat);
    CHECK(world.state(job) == JobState::Running);
    CHECK(world.launcher->notes.empty());  // of the second server
}

TEST_CASE("the job's log says what is held and what follows") {
    Escaping world;
    const JobId job = world.run("a", 1);
    world.escapes(job);
    REQUIRE(world.launcher->notes.size() == 1);
    CHECK(world.launcher->notes[0].first == world.attempt(job));
    CHECK(world.launcher->notes[0].second ==
          "it uses GPUs beside its share: " + kWhat + "; that counts as this job's (escaped=warn)");
}

TEST_CASE("its next attempt may be reported again") {
    Escaping world;
    const JobId job = world.run("a", 1);
    world.escapes(job);
    world.lost(job, "the machine was restarted");
    world.running(job);
    CHECK(world.job(job).escaped.empty());
    world.escapes(job);
    CHECK(world.count("job_escaped") == 2);
}

TEST_CASE("where the policy says end, it is asked to stop and fails with the reason") {
    Escaping world;
    const JobId job = world.run("a", 1);
    world.escapes(job);
    REQUIRE(world.set_policy({{"escaped", "end"}}));
    CHECK(world.launcher->stops.empty());
    world.escapes(job);
    REQUIRE(world.launcher->stops.size() == 1);
    CHECK(world.launcher->stops[0].reason == StopReason::Cancel);
    world.restart();
    CHECK(world.state(job) == JobState::Cancelling);
    const std::string reason =
        "it uses GPUs beside its share: " + kWhat + "; it is ended (escaped=end)";
    CHECK(world.job(job).ended_for == reason);
    world.exits(job, {.exit_code = 0, .stop_asked = true, .detail = {}});
    CHECK(world.state(job) == JobState::Failed);
    const auto ended = world.store.finished_job(job);
    REQUIRE(ended);
    CHECK(ended->exit_code == 1);
    CHECK(ended->detail == reason);
}

TEST_CASE("what a user cancels is cancelled, whatever it used") {
    Escaping world;
    const JobId job = world.run("a", 1);
    world.escapes(job);
    REQUIRE(world.cancel(job));
    world.exits(job, {.exit_code = 143, .stop_asked = true, .detail = {}});
    CHECK(world.state(job) == JobState::Cancelled);
}

TEST_CASE("where no node keeps shares a new job that asks for one is refused with the cause") {
    Escaping world;
    world.set_lack("the arbiter is not there");
    const auto refused = world.submit_half();
    REQUIRE(refused->refusal);
    REQUIRE(refused->refusal->verdict);
    CHECK(refused->refusal->verdict->reason == Reason::NeverFits);
    CHECK(refused->refusal->verdict->what == "the arbiter is not there");
    world.set_lack("");
    CHECK_FALSE(world.submit_half()->refusal);
}

TEST_CASE("a job that waited for a share waits on, with the cause, and starts when it is kept") {
    Escaping world;
    const JobId first = world.run("a", 4);
    const JobId second = world.run("b", 4);
    const JobId waits = world.submit_half()->job;
    world.set_lack("the arbiter is not there");
    for (const JobId job : {first, second}) world.exits(job, {.exit_code = 0, .detail = {}});
    CHECK(world.state(waits) == JobState::Queued);
    CHECK(world.controller->why(waits)->what == "the arbiter is not there");
    world.set_lack("");
    CHECK(world.state(waits) == JobState::Starting);
}
