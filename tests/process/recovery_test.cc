// SPDX-License-Identifier: Apache-2.0
//
// What remains true when the server, a supervisor or the machine dies under an attempt.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "process/doomed_server.h"
#include "process/world.h"

using namespace berth;
using namespace berth::process_test;

namespace {

// Runs the test case "(crashing server)" below in a new process; true when it died at the point.
bool run_until_crash(const std::string& data_dir, const std::string& point) {
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::setenv("BERTH_CRASH_AT", point.c_str(), 1);
        ::setenv("BERTH_TEST_DATA", data_dir.c_str(), 1);
        ::execl("/proc/self/exe", "process_test", "--no-skip", "--test-case=(crashing server)",
                nullptr);
        ::_exit(127);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

bool has_line(const World& world, AttemptId id, const std::string& start) {
    return ("\n" + world.status(id)).find("\n" + start) != std::string::npos;
}

}  // namespace

TEST_CASE("a killed server finds its running job, and its finished one, and what never began") {
    ScratchDirectory scratch;
    const std::string go = scratch.path() + "/go";
    DoomedServer doomed(scratch.path(), {shell(attempt(1), "while [ ! -e " + go +
                                                               " ]; do sleep 0.01; done; exit 5"),
                                         shell(attempt(2), "sleep 0.2; exit 6")});
    World world(scratch.path());
    REQUIRE(wait_for([&] { return has_line(world, attempt(2), "running"); }));
    doomed.kill();
    REQUIRE(wait_for([&] { return has_line(world, attempt(2), "exit"); }));

    world.recover({attempt(1), attempt(2), attempt(3)});
    REQUIRE(world.until_running(attempt(1)));
    CHECK(world.exit_of(attempt(2)).exit_code == 6);
    REQUIRE(world.until([&] { return world.is_over(attempt(3)); }));
    CHECK(world.lost[attempt(3)] == "never started");
    CHECK_FALSE(world.is_over(attempt(1)));
    std::ofstream(go) << "now";
    CHECK(world.exit_of(attempt(1)).exit_code == 5);
    CHECK(world.reports == 3);
}

TEST_CASE("a job can be paused by the server that took it up") {
    ScratchDirectory scratch;
    const AttemptId id = attempt(1);
    DoomedServer doomed(scratch.path(), {shell(id,
                                               "trap 'echo saved; exit 0' TERM; echo ready; "
                                               "while :; do sleep 0.02; done")});
    World world(scratch.path());
    REQUIRE(wait_for([&] { return world.log(id) == "ready\n"; }));
    doomed.kill();
    world.recover({id});
    world.pause(id);  // before it can have been reached
    const AttemptExit exit = world.exit_of(id);
    CHECK(exit.stop_asked);
    CHECK_FALSE(exit.killed);
    CHECK(world.log(id) == "ready\nsaved\n");
}

TEST_CASE("a stop that was asked for is completed without the server") {
    ScratchDirectory scratch;
    const AttemptId id = attempt(1);
    const std::string asked = scratch.path() + "/asked";
    DoomedServer doomed(scratch.path(),
                        {shell(id, "trap '' TERM; echo ready; while :; do sleep 0.02; done")},
                        [&](World& server) {
                            server.until([&] { return server.log(id) == "ready\n"; });
                            server.pause(id, 400);
                            std::ofstream(asked) << "yes";
                        });
    World world(scratch.path());
    REQUIRE(wait_for([&] { return std::filesystem::exists(asked); }));
    doomed.kill();
    REQUIRE(wait_for([&] { return has_line(world, id, "exit"); }));
    world.recover({id});
    const AttemptExit exit = world.exit_of(id);
    CHECK(exit.stop_asked);
    CHECK(exit.killed);
    CHECK(exit.signal == SIGKILL);
}

TEST_CASE("(crashing server)" * doctest::skip()) {
    const char* data_dir = ::getenv("BERTH_TEST_DATA");
    REQUIRE(data_dir != nullptr);
    World world(data_dir);
    world.run(shell(attempt(1), std::string("echo x >>") + data_dir + "/marks; exit 3"));
}

TEST_CASE("whichever instruction the server dies at, an attempt runs at most once") {
    for (const char* point : {"before-spawn", "after-spawn", "before-exit-report"}) {
        CAPTURE(point);
        ScratchDirectory scratch;
        const std::string marks = scratch.path() + "/marks";
        const AttemptId id = attempt(1);
        CHECK(run_until_crash(scratch.path(), point));
        World world(scratch.path());
        world.recover({id});
        REQUIRE(world.until([&] { return world.is_over(id); }));
        if (std::string(point) == "before-spawn") {
            CHECK(world.lost[id] == "never started");
            CHECK(read_file(marks) == "");
        } else {
            CHECK(world.exits[id].exit_code == 3);
            CHECK(read_file(marks) == "x\n");
        }
        CHECK(world.reports == 1);
    }
}

TEST_CASE("a server that is replaced while it runs leaves its jobs to the next") {
    ScratchDirectory scratch;
    World world(scratch.path());
    world.start(shell(attempt(1), "sleep 0.3; exit 8"));
    REQUIRE(world.until_running(attempt(1)));
    world.drop_launcher();
    for (int generation = 0; generation < 3; ++generation) {
        World next(scratch.path());
        next.recover({attempt(1)});
        CHECK(next.until_running(attempt(1)));
        next.drop_launcher();
    }
    World last(scratch.path());
    last.recover({attempt(1)});
    CHECK(last.exit_of(attempt(1)).exit_code == 8);
}

TEST_CASE("an attempt whose supervisor is killed is lost, and nothing of it runs on") {
    ScratchDirectory scratch;
    World world(scratch.path());
    const std::string pids = scratch.path() + "/pids";
    world.start(shell(attempt(1), "echo $$ >>" + pids + "; setsid bash -c 'echo $$ >>" + pids +
                                      "; while :; do sleep 1; done'"));
    REQUIRE(wait_for([&] {
        const std::string text = read_file(pids);
        return std::count(text.begin(), text.end(), '\n') == 2;
    }));
    REQUIRE(world.until_running(attempt(1)));
    ::kill(world.supervisor_of(attempt(1)), SIGKILL);
    REQUIRE(world.until([&] { return world.is_over(attempt(1)); }));
    CHECK(world.lost[attempt(1)] == "its supervisor was killed");
    std::istringstream list(read_file(pids));
    for (int pid = 0; list >> pid;) {
        CAPTURE(pid);
        CHECK(wait_for([&] { return !is_living(pid); }));
    }
}

TEST_CASE("what ran before the machine was restarted is lost, what had ended is not") {
    ScratchDirectory scratch;
    World world(scratch.path());
    std::filesystem::create_directories(world.jobs_dir() + "/0");
    std::ofstream(world.status_path(attempt(1))) << "starting another-boot 17\n";
    std::ofstream(world.status_path(attempt(2)))
        << "starting another-boot 18\nrunning 19\nexit 4 0 0 0 task 0 exited with 4\n";
    world.recover({attempt(1), attempt(2)});
    CHECK(world.exit_of(attempt(2)).exit_code == 4);
    REQUIRE(world.until([&] { return world.is_over(attempt(1)); }));
    CHECK(world.lost[attempt(1)] == "the machine was restarted");
}

TEST_CASE("what another log began is no attempt of this one, and is moved aside") {
    ScratchDirectory scratch;
    World world(scratch.path());
    std::filesystem::create_directories(world.jobs_dir() + "/0");
    const std::string exit = "starting boot 18\nrunning 19\nexit 4 0 0 0 exited with 4\n";
    std::ofstream(world.status_path(attempt(1))) << "log theirs\n" + exit;
    std::ofstream(world.status_path(attempt(2))) << "log ours\n" + exit;
    std::ofstream(world.status_path(attempt(3))) << exit;  // before logs had names
    std::ofstream(process::log_path(world.jobs_dir(), attempt(1), 0)) << "their words\n";
    const std::vector<ports::BegunAttempt> begun{
        {attempt(1), "ours"}, {attempt(2), "ours"}, {attempt(3), "ours"}};
    world.launcher().recover(begun);
    REQUIRE(world.until([&] { return world.reports == 3; }));
    CHECK(world.lost[attempt(1)] == "never started");
    CHECK(world.exits[attempt(2)].exit_code == 4);
    CHECK(world.lost[attempt(3)] == "never started");
    const std::string aside = world.jobs_dir() + "/0/foreign-theirs/";
    CHECK(read_file(aside + "1.1.status") == "log theirs\n" + exit);
    CHECK(read_file(aside + "1.1.task-0.log") == "their words\n");
}

TEST_CASE("an attempt runs itself where another log had one of its name") {
    ScratchDirectory scratch;
    World world(scratch.path());
    std::filesystem::create_directories(world.jobs_dir() + "/0");
    for (const char* theirs :
         {"log theirs\nstarting boot 18\nexit 4 0 0 0 -\n", "exit 4 0 0 0 -\n", "log the"}) {
        CAPTURE(theirs);
        std::ofstream(world.status_path(attempt(1))) << theirs;
        ports::LaunchOrder order = shell(attempt(1), "echo ours; exit 3");
        order.log = "ours";
        world.exits.clear();
        CHECK(world.run(order).exit_code == 3);
        CHECK(world.log(attempt(1)) == "ours\n");
        CHECK(world.status(attempt(1)).starts_with("log ours\nstarting "));
    }
}

TEST_CASE("attempts that a log does not know are ended, those that it knows go on") {
    ScratchDirectory scratch;
    World world(scratch.path());
    for (const int job : {1, 2, 3}) {
        ports::LaunchOrder order = shell(attempt(job), "while :; do sleep 1; done");
        order.log = "ours";
        world.start(order);
        REQUIRE(world.until_running(attempt(job)));
    }
    CHECK(process::highest_job(world.jobs_dir()) == model::JobId{3});
    const std::vector<ports::BegunAttempt> known{{attempt(1), "ours"}, {attempt(2), "theirs"}};
    const auto ended = process::end_strangers(world.jobs_dir(), world.cluster(), known);
    REQUIRE(ended.has_value());
    CHECK(std::set(ended->begin(), ended->end()) == std::set{attempt(2), attempt(3)});
    REQUIRE(world.until([&] { return world.reports == 2; }));
    CHECK_FALSE(world.is_over(attempt(1)));
    CHECK(world.lost[attempt(3)] == "its supervisor was killed");
}

TEST_CASE("a hundred running attempts are taken up by the next server") {
    ScratchDirectory scratch;
    const std::string go = scratch.path() + "/go";
    ::mkfifo(go.c_str(), 0600);
    std::vector<AttemptId> ids;
    {
        World world(scratch.path());
        for (std::int64_t job = 1; job <= 100; ++job) {
            ids.push_back(attempt(job));
            world.start(shell(attempt(job), "read line <" + go + "; exit 9"));
        }
        REQUIRE(world.until([&] { return world.running.size() == ids.size(); }));
        world.drop_launcher();
    }
    World world(scratch.path());
    world.recover(ids);
    REQUIRE(world.until([&] { return world.running.size() == ids.size(); }));
    for (const AttemptId id : ids) world.pause(id);
    REQUIRE(world.until([&] { return world.exits.size() == ids.size(); }));
    for (const AttemptId id : ids) CHECK(world.exits[id].stop_asked);
}
