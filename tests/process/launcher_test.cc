// SPDX-License-Identifier: Apache-2.0
//
// How attempts begin and end while the server is there.
#include <doctest/doctest.h>
#include <signal.h>

#include "process/world.h"

using namespace berth;
using namespace berth::process_test;

TEST_CASE("an exit code arrives as it was") {
    ScratchDirectory scratch;
    World world(scratch.path());
    std::int64_t job = 0;
    for (const int code : {0, 1, 2, 126, 127, 255}) {
        const AttemptExit exit = world.run(shell(attempt(++job), "exit " + std::to_string(code)));
        CAPTURE(code);
        CHECK(exit.exit_code == code);
        CHECK(exit.signal == 0);
        CHECK_FALSE(exit.stop_asked);
        CHECK(world.running.contains(attempt(job)));
        CHECK(exit.detail == (code == 0 ? "" : "task 0 exited with " + std::to_string(code)));
    }
}

TEST_CASE("a signal that ends a task is reported") {
    ScratchDirectory scratch;
    World world(scratch.path());
    const AttemptExit exit = world.run(shell(attempt(1), "kill -SEGV $$"));
    CHECK(exit.exit_code == 128 + SIGSEGV);
    CHECK(exit.signal == SIGSEGV);
    CHECK(exit.detail == "task 0 was ended by SEGV");
}

TEST_CASE("a command that cannot be run ends with 127 or 126 and its reason") {
    ScratchDirectory scratch;
    World world(scratch.path());
    const AttemptExit missing = world.run(order_of(attempt(1), {"no-such-command"}));
    CHECK(missing.exit_code == 127);
    CHECK(missing.detail == "cannot run \"no-such-command\": No such file or directory");
    CHECK(world.log(attempt(1)) == "berth: " + missing.detail + "\n");
    CHECK_FALSE(world.running.contains(attempt(1)));

    CHECK(world.run(order_of(attempt(2), {"/etc/passwd"})).exit_code == 126);

    ports::LaunchOrder order = shell(attempt(3), "true");
    order.spec.workdir = "/no/such/place";
    const AttemptExit lost_way = world.run(order);
    CHECK(lost_way.exit_code == 126);
    CHECK(lost_way.detail == "cannot enter workdir \"/no/such/place\": No such file or directory");

    CHECK(world.run(order_of(attempt(4), {"no-such-command"}, 3)).exit_code == 127);
    CHECK(world.run(order_of(attempt(5), {})).exit_code == 126);
}

#ifdef BERTH_FOREIGN_PROGRAM
TEST_CASE("a program that would run without its share of a GPU is refused with a sentence") {
    ScratchDirectory scratch;
    World world(scratch.path());
    ports::LaunchOrder order = order_of(attempt(1), {BERTH_FOREIGN_PROGRAM});
    CHECK(world.run(order).detail.find("share") == std::string::npos);  // on a whole GPU
    order.attempt = attempt(2);
    order.tasks.front().environment = {"BERTH_VGPU_SOCKET=/nowhere"};
    const AttemptExit refused = world.run(order);
    CHECK(refused.exit_code == 126);
    CHECK(refused.detail.find("is a 32-bit program and would run without this job's share") !=
          std::string::npos);
    CHECK(world.log(attempt(2)) == "berth: " + refused.detail + "\n");
    CHECK_FALSE(world.running.contains(attempt(2)));
}
#endif

TEST_CASE("a command of any length that cannot be run ends with its reason, which is bounded") {
    ScratchDirectory scratch;
    World world(scratch.path());
    std::int64_t job = 0;
    for (const std::size_t length : {70'000U, 200'000U, 1'000'000U}) {
        CAPTURE(length);
        const AttemptExit exit =
            world.run(order_of(attempt(++job), {std::string(length, 'x'), "--flag"}));
        CHECK(exit.exit_code == 126);
        CHECK(exit.detail.starts_with("cannot run \"xxx"));
        CHECK(exit.detail.ends_with("...\": File name too long"));
        CHECK(exit.detail.size() < 300);
        CHECK(world.log(attempt(job)) == "berth: " + exit.detail + "\n");

        ports::LaunchOrder elsewhere = shell(attempt(++job), "true");
        elsewhere.spec.workdir = '/' + std::string(length, 'w');
        CHECK(world.run(elsewhere).detail.ends_with("...\": File name too long"));

        ports::LaunchOrder unsaved = shell(attempt(++job), "true");
        unsaved.spec.checkpoint_dir = '/' + std::string(length, 'c');
        CHECK(world.run(unsaved).detail.size() < 300);
    }
}

TEST_CASE("a word of a command that the system cannot pass on is an exit, not an abort") {
    ScratchDirectory scratch;
    World world(scratch.path());
    const AttemptExit exit =
        world.run(order_of(attempt(1), {"/bin/echo", std::string(200'000, 'x')}));
    CHECK(exit.exit_code == 126);
    CHECK(exit.detail == "cannot run \"/bin/echo\": Argument list too long");
    CHECK(world.run(order_of(attempt(2), {"/bin/echo", std::string(70'000, 'x')})).exit_code == 0);
    CHECK(world.log(attempt(2)).size() == 70'001);
}

TEST_CASE("a supervisor that cannot be run is an exit, not a crash") {
    ScratchDirectory scratch;
    World world(scratch.path(), "/no/such/supervisor");
    const AttemptExit exit = world.run(shell(attempt(1), "true"));
    CHECK(exit.exit_code == 126);
    CHECK(exit.detail == "cannot run \"/no/such/supervisor\": No such file or directory");
    // And it stays one for a later server.
    World later(scratch.path());
    later.recover({attempt(1)});
    CHECK(later.exit_of(attempt(1)).exit_code == 126);
}

TEST_CASE("each rank sees its own place and the user's environment") {
    ScratchDirectory scratch;
    World world(scratch.path());
    ports::LaunchOrder order = shell(
        attempt(9, 3),
        "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $NODE_RANK=$GROUP_RANK "
        "[$CUDA_VISIBLE_DEVICES] $MARK; echo $BERTH_JOB_ID.$BERTH_ATTEMPT $BERTH_JOB_NAME "
        "$BERTH_PROJECT $BERTH_RESUME $TORCHELASTIC_RESTART_COUNT; test -d $BERTH_CHECKPOINT_DIR "
        "&& echo $BERTH_CHECKPOINT_DIR; echo $MASTER_ADDR:$MASTER_PORT; pwd; env | grep -c ^RANK=");
    order.tasks = {{0, 0, "n0", {0, 1}}, {1, 1, "n0", {2}}, {2, 0, "n1", {}}};
    order.resumes = true;
    order.spec.workdir = "/usr";
    CHECK(world.run(order).exit_code == 0);
    const char* places[] = {"0/3 0/2 0=0 [0,1]", "1/3 1/2 0=0 [2]", "2/3 0/1 1=1 []"};
    std::string address;
    for (int rank = 0; rank < 3; ++rank) {
        std::istringstream lines(world.log(attempt(9, 3), rank));
        std::string line;
        std::getline(lines, line);
        CHECK(line == std::string(places[rank]) + " set by the user");
        std::getline(lines, line);
        CHECK(line == "9.3 test lab 1 2");
        std::getline(lines, line);
        CHECK(line == scratch.path() + "/jobs/0/9.checkpoint");
        std::getline(lines, line);
        CHECK(line.starts_with("127.0.0.1:2"));
        if (rank == 0) address = line;
        CHECK(line == address);
        std::getline(lines, line);
        CHECK(line == "/usr");
        std::getline(lines, line);
        CHECK(line == "1");
    }
}

TEST_CASE("a task sees no file, signal or process group of the server or its supervisor") {
    ScratchDirectory scratch;
    World world(scratch.path());
    const AttemptExit exit =
        world.run(shell(attempt(1),
                        "ls /proc/self/fd | tr '\\n' ' '; "
                        "python3 -c \"print(*[hex(int(line.split()[1], 16) & 0x7fffffff) for line "
                        "in open('/proc/self/status') if line[:6] == 'SigBlk'])\"; "
                        "python3 -c 'import os; print(os.getpgid(0) == os.getpid())'"));
    CHECK(exit.exit_code == 0);
    // 3 is the directory that ls itself reads.
    CHECK(world.log(attempt(1)) == "0 1 2 3 0x0\nTrue\n");
}

TEST_CASE("the first task that fails ends the gang and gives the exit code") {
    ScratchDirectory scratch;
    World world(scratch.path());
    const AttemptExit exit = world.run(shell(attempt(1), "[ $RANK = 2 ] && exit 7; sleep 600", 4));
    CHECK(exit.exit_code == 7);
    CHECK(exit.detail == "task 2 exited with 7");
    CHECK_FALSE(exit.killed);
}

TEST_CASE("what tasks leave behind is killed, however it tried to get away") {
    ScratchDirectory scratch;
    World world(scratch.path());
    const std::string pid_file = scratch.path() + "/pid";
    const AttemptExit exit =
        world.run(shell(attempt(1), "setsid bash -c 'trap \"\" TERM HUP; (echo $BASHPID >" +
                                        pid_file + "; exec sleep 600) & disown' & while [ ! -s " +
                                        pid_file + " ]; do sleep 0.01; done; exit 3"));
    CHECK(exit.exit_code == 3);
    CHECK_FALSE(is_living(std::stoi(read_file(pid_file))));
}

TEST_CASE("a helper that only copies the last output is given the time to do so") {
    ScratchDirectory scratch;
    World world(scratch.path());
    const std::string copy = scratch.path() + "/copy";
    CHECK(world.run(shell(attempt(1), "exec > >(sleep 0.05; cat >" + copy + "); echo last words"))
              .exit_code == 0);
    CHECK(read_file(copy) == "last words\n");
}

TEST_CASE("two hundred quick jobs all report exactly once") {
    ScratchDirectory scratch;
    World world(scratch.path());
    for (std::int64_t job = 1; job <= 200; ++job)
        world.start(shell(attempt(job), "exit " + std::to_string(job % 100)));
    REQUIRE(world.until([&] { return world.exits.size() == 200; }));
    CHECK(world.reports == 200);
    for (std::int64_t job = 1; job <= 200; ++job)
        CHECK(world.exits[attempt(job)].exit_code == job % 100);
}

TEST_CASE("starting an attempt again does not run it again") {
    ScratchDirectory scratch;
    const std::string marks = scratch.path() + "/marks";
    const ports::LaunchOrder order = shell(attempt(1), "echo x >>" + marks + "; exit 5");
    World world(scratch.path());
    world.start(order);
    world.start(order);
    CHECK(world.exit_of(attempt(1)).exit_code == 5);
    CHECK(world.reports == 1);
    World later(scratch.path());
    CHECK(later.run(order).exit_code == 5);
    CHECK(read_file(marks) == "x\n");
}

TEST_CASE("an environment of a megabyte reaches the task") {
    ScratchDirectory scratch;
    World world(scratch.path());
    ports::LaunchOrder order = shell(attempt(1), "echo ${#BIG9} $BIG9 | cut -c1-9");
    for (int index = 0; index < 10; ++index)
        order.spec.environment.push_back("BIG" + std::to_string(index) + '=' +
                                         std::string(100'000, 'b'));
    CHECK(world.run(order).exit_code == 0);
    CHECK(world.log(attempt(1)) == "100000 bb\n");
}

TEST_CASE("a killed spawner is replaced and its supervisors go on") {
    ScratchDirectory scratch;
    World world(scratch.path());
    world.start(shell(attempt(1), "sleep 0.3; exit 4"));
    REQUIRE(world.until_running(attempt(1)));
    const int spawner = parent_of(world.supervisor_of(attempt(1)));
    ::kill(spawner, SIGKILL);
    REQUIRE(wait_for([&] { return !is_living(spawner); }));
    CHECK(world.run(shell(attempt(2), "exit 6")).exit_code == 6);
    CHECK(world.exit_of(attempt(1)).exit_code == 4);
}
