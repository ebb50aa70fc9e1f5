// SPDX-License-Identifier: Apache-2.0
//
// kill -9 of server, spawner and supervisor in every order, or SIGSTOP: nothing of an attempt lives
// on, and none is reported as over while anything of it lives.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>

#include "process/doomed_server.h"
#include "process/world.h"

using namespace berth;
using namespace berth::process_test;

namespace {

using Clock = std::chrono::steady_clock;

// Runs as long as it is let, with daemons in sessions of their own, without any environment and
// with no file of the job open. Each says once that it is there.
std::string with_daemons(const std::string& folder) {
    const std::string script = folder + "/daemon.sh";
    std::ofstream(script) << "echo $$ >>" << folder << "/pids; exec env -i sleep 1000\n";
    const std::string away = " </dev/null >/dev/null 2>&1";
    const std::string one = "sh " + script + away;
    return "echo x >>" + folder + "/runs; setsid " + one + " & (setsid setsid " + one +
           " &); setsid env -i sh -c 'sh " + script + " & exec sleep 1000'" + away +
           " & while :; do sleep 1; done";
}

struct KillingStage {
    ScratchDirectory scratch;
    AttemptId id = attempt(1);
    ports::LaunchOrder order = shell(id, with_daemons(scratch.path()));

    std::vector<int> daemons() const {
        std::istringstream text(read_file(scratch.path() + "/pids"));
        std::vector<int> pids;
        for (int pid = 0; text >> pid;) pids.push_back(pid);
        return pids;
    }
    bool is_anything_left() const {
        const std::vector<int> pids = daemons();
        return std::ranges::any_of(pids, is_living);
    }
    void wait_for_daemons() const {
        REQUIRE(wait_for([&] { return daemons().size() == 3; }));
    }
    std::string runs() const { return read_file(scratch.path() + "/runs"); }
};

// Nothing of it lives when it is said to be over, nor two seconds after the last kill.
void check_is_over(KillingStage& it, World& world, Clock::time_point killed) {
    REQUIRE(world.until([&] { return world.is_over(it.id); }));
    CHECK_FALSE(it.is_anything_left());
    CHECK(Clock::now() - killed < std::chrono::seconds(2));
    CHECK(it.runs() == "x\n");
}

}  // namespace

TEST_CASE("server, spawner and supervisor killed in any order leave nothing of the attempt") {
    std::vector<std::string> orders = {"s", "v", "p", "sv", "vs", "sp", "ps", "pv", "vp"};
    for (std::string all = "psv"; orders.size() < 15;) {
        orders.push_back(all);
        std::next_permutation(all.begin(), all.end());
    }
    for (const std::string& order : orders) {
        CAPTURE(order);  // s: the supervisor, p: the spawner, v: the server
        KillingStage it;
        DoomedServer server(it.scratch.path(), {it.order});
        World world(it.scratch.path());
        it.wait_for_daemons();
        const int supervisor = world.supervisor_of(it.id);
        const int spawner = parent_of(supervisor);
        for (const char who : order) {
            if (who == 's') ::kill(supervisor, SIGKILL);
            if (who == 'p') ::kill(spawner, SIGKILL);
            if (who == 'v') server.kill();
        }
        const Clock::time_point killed = Clock::now();
        const bool is_lost = order.find('s') != std::string::npos;
        // While a spawner lives it needs no server.
        if (is_lost && order.find('p') == std::string::npos)
            CHECK(wait_for([&] { return !it.is_anything_left(); }));
        server.kill();
        world.recover({it.id});
        if (!is_lost) {
            REQUIRE(world.until_running(it.id));
            world.launcher().stop(it.id, ports::StopReason::Cancel, base::Duration{0});
        }
        check_is_over(it, world, killed);
        CHECK(world.lost.contains(it.id) == is_lost);
    }
}

TEST_CASE(
    "an attempt is not over for its server before the last of a killed supervisor's is gone") {
    KillingStage it;
    World world(it.scratch.path());
    world.start(it.order);
    it.wait_for_daemons();
    ::kill(world.supervisor_of(it.id), SIGKILL);
    check_is_over(it, world, Clock::now());
    CHECK(world.lost[it.id] == "its supervisor was killed");
}

TEST_CASE("other attempts of a spawner live on when one supervisor is killed") {
    KillingStage it;
    World world(it.scratch.path());
    world.start(it.order);
    world.start(shell(attempt(2), "(setsid sleep 0.1 &); sleep 0.5; exit 7"));
    it.wait_for_daemons();
    REQUIRE(world.until_running(attempt(2)));
    ::kill(world.supervisor_of(it.id), SIGKILL);
    check_is_over(it, world, Clock::now());
    CHECK(world.exit_of(attempt(2)).exit_code == 7);
}

TEST_CASE("a stopped supervisor is woken by a cancel, and by a pause") {
    for (const auto reason : {ports::StopReason::Cancel, ports::StopReason::Pause}) {
        KillingStage it;
        World world(it.scratch.path());
        world.start(it.order);
        it.wait_for_daemons();
        ::kill(world.supervisor_of(it.id), SIGSTOP);
        const Clock::time_point stopped = Clock::now();
        world.launcher().stop(it.id, reason, base::Duration{200});
        check_is_over(it, world, stopped);
        CHECK(world.exits[it.id].stop_asked);
    }
}

TEST_CASE("a supervisor that is stopped again and again is killed after the grace") {
    KillingStage it;
    World world(it.scratch.path());
    world.start(it.order);
    it.wait_for_daemons();
    const int supervisor = world.supervisor_of(it.id);
    ::kill(supervisor, SIGSTOP);
    world.launcher().stop(it.id, ports::StopReason::Cancel, base::Duration{100});
    REQUIRE(world.until([&] {
        ::kill(supervisor, SIGSTOP);
        return world.is_over(it.id);
    }));
    CHECK_FALSE(it.is_anything_left());
    CHECK(world.lost.contains(it.id));
}

TEST_CASE("the next server ends an attempt whose supervisor stands still, and its spawner too") {
    for (const bool is_killed : {false, true}) {
        KillingStage it;
        DoomedServer server(it.scratch.path(), {it.order});
        World world(it.scratch.path());
        it.wait_for_daemons();
        const int supervisor = world.supervisor_of(it.id);
        ::kill(parent_of(supervisor), SIGSTOP);
        ::kill(supervisor, is_killed ? SIGKILL : SIGSTOP);
        server.kill();
        const Clock::time_point killed = Clock::now();
        world.recover({it.id});
        world.launcher().stop(it.id, ports::StopReason::Cancel, base::Duration{0});
        check_is_over(it, world, killed);
    }
}
