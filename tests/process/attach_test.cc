// SPDX-License-Identifier: Apache-2.0
//
// Does an attached job feel like its command? A process of its own takes the job's place with real
// pipes or a real terminal, and is compared with the command itself.
#include "attach/attach.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

#include <cstdio>

#include "process/ordinary_user.h"
#include "process/world.h"

using namespace berth;
using namespace berth::process_test;
using supervision::Descriptor;

namespace {

constexpr int kDetachedCode = 201;
constexpr int kLostCode = 202;
constexpr int kRefusedCode = 203;
constexpr int kInsistedCode = 204;

struct StandInFiles {
    int input = -1;
    int output = -1;
    int error_output = -1;
};

// Runs attach() in a process of its own, as berth run would.
pid_t stand_in(const std::string& socket, const StandInFiles& files, bool terminal) {
    std::fflush(nullptr);  // what the test has to say is said once, by the test
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    if (terminal) {
        ::setsid();
        ::ioctl(files.input, TIOCSCTTY, 0);
    }
    ::dup2(files.input, 0);
    ::dup2(files.output, 1);
    ::dup2(files.error_output, 2);
    ::close_range(3, ~0U, 0);
    attach::AttachOptions options;
    options.terminal = terminal;
    options.on_insistence = [] { ::_exit(kInsistedCode); };
    const auto result = attach::attach(socket, options);
    if (!result) ::_exit(kRefusedCode);
    if (result->end == attach::AttachEnd::Detached) ::_exit(kDetachedCode);
    if (result->end == attach::AttachEnd::Lost) ::_exit(kLostCode);
    ::_exit(result->exit.exit_code);
}

struct Pipe {
    Pipe() {
        int ends[2];
        REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
        read.reset(ends[0]);
        write.reset(ends[1]);
    }
    Descriptor read;
    Descriptor write;
};

// Appends what can be read now. False at the end.
bool take(const Descriptor& from, std::string& to) {
    pollfd poll{from.get(), POLLIN, 0};
    if (!from.is_open() || ::poll(&poll, 1, 0) <= 0) return from.is_open();
    char buffer[65536];
    const ssize_t size = ::read(from.get(), buffer, sizeof buffer);
    if (size <= 0) return false;
    to.append(buffer, static_cast<std::size_t>(size));
    return true;
}

bool has_ended(pid_t child) {
    siginfo_t state{};
    ::waitid(P_PID, static_cast<id_t>(child), &state, WEXITED | WNOHANG | WNOWAIT);
    return state.si_pid == child;
}

class Attached {
  public:
    Attached(World& world, ports::LaunchOrder order, bool terminal = false)
        : world_(world), id_(order.attempt) {
        order.spec.attached = true;
        order.spec.terminal = terminal;
        world_.start(order);
    }
    ~Attached() {
        if (pid_ > 0) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
    }

    std::string socket() const { return world_.launcher().socket_path(id_); }
    void on_pipes() {
        pid_ = stand_in(socket(), {in_.read.get(), out_.write.get(), err_.write.get()}, false);
        in_.read.reset();
        out_.write.reset();
        err_.write.reset();
    }
    // Answers our end of the terminal.
    int on_terminal(int rows, int columns) {
        master_.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
        ::grantpt(master_.get());
        ::unlockpt(master_.get());
        resize(rows, columns);
        slave_.reset(::open(::ptsname(master_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
        pid_ = stand_in(socket(), {slave_.get(), slave_.get(), slave_.get()}, true);
        return master_.get();
    }
    void resize(int rows, int columns) {
        winsize size{};
        size.ws_row = static_cast<unsigned short>(rows);
        size.ws_col = static_cast<unsigned short>(columns);
        ::ioctl(master_.get(), TIOCSWINSZ, &size);
    }
    void type(const std::string& keys) {
        CHECK(::write(master_.get(), keys.data(), keys.size()) ==
              static_cast<ssize_t>(keys.size()));
    }
    // Until the text has come out.
    bool until_output(const std::string& text) {
        return world_.until([&] {
            pump();
            return output.find(text) != std::string::npos;
        });
    }
    // The exit code of the stand-in.
    int wait() {
        int status = -1;
        // Supervisor and client need no server: its loop stands still meanwhile.
        const bool is_over = wait_for([&] {
            const int fd = master_.is_open() ? master_.get() : out_.read.get();
            for (pollfd ready{fd, POLLIN, 0};
                 fd >= 0 && ::poll(&ready, 1, 2) > 0 && (ready.revents & POLLIN) != 0;)
                pump();
            pump();
            return ::waitpid(pid_, &status, WNOHANG) == pid_;
        });
        if (!is_over) return -1;
        pid_ = -1;
        if (!master_.is_open()) {
            while (take(out_.read, output) && ends_soon(out_.read)) {
            }
            while (take(err_.read, errors) && ends_soon(err_.read)) {
            }
        }
        pump();
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    void pump() {
        if (master_.is_open()) {
            take(master_, output);
            return;
        }
        if (reads_output) take(out_.read, output);
        take(err_.read, errors);
    }
    void give_input(const std::string& text) {
        CHECK(::write(in_.write.get(), text.data(), text.size()) ==
              static_cast<ssize_t>(text.size()));
    }
    bool try_input(const std::string& text) {
        return ::write(in_.write.get(), text.data(), text.size()) > 0;
    }
    void end_input() { in_.write.reset(); }
    void close_output() { out_.read.reset(); }
    pid_t pid() const { return pid_; }
    Descriptor& slave() { return slave_; }
    void hang_up() { master_.reset(), slave_.reset(); }

    std::string output;
    std::string errors;
    bool reads_output = true;

  private:
    static bool ends_soon(const Descriptor& from) {
        pollfd poll{from.get(), POLLIN, 0};
        return ::poll(&poll, 1, 100) > 0;
    }

    World& world_;
    AttemptId id_;
    pid_t pid_ = -1;
    Pipe in_;
    Pipe out_;
    Pipe err_;
    Descriptor master_;
    Descriptor slave_;
};

}  // namespace

TEST_CASE("an attached job has its streams apart, its log together, and its exit code") {
    ScratchDirectory scratch;
    World world(scratch.path());
    for (const int code : {0, 3, 255}) {
        const AttemptId id = attempt(code + 1);
        Attached job(world, shell(id, "echo out; echo err >&2; exit " + std::to_string(code)));
        job.on_pipes();
        CHECK(job.wait() == code);
        CHECK(job.output == "out\n");
        CHECK(job.errors == "err\n");
        CHECK(world.exit_of(id).exit_code == code);
        CHECK(world.log(id).size() == 8);
    }
}

TEST_CASE("a command that is missing says so to the client") {
    ScratchDirectory scratch;
    World world(scratch.path());
    Attached job(world, order_of(attempt(1), {"no-such-command"}));
    job.on_pipes();
    CHECK(job.wait() == 127);
    CHECK(job.errors == "berth: cannot run \"no-such-command\": No such file or directory\n");
    CHECK(world.log(attempt(1)) == job.errors);
}

TEST_CASE("nothing runs before the client is there") {
    ScratchDirectory scratch;
    World world(scratch.path());
    Attached job(world, shell(attempt(1), "echo started >" + scratch.path() + "/mark"));
    ::usleep(200'000);
    CHECK(read_file(scratch.path() + "/mark") == "");
    job.on_pipes();
    CHECK(job.wait() == 0);
    CHECK(read_file(scratch.path() + "/mark") == "started\n");
}

TEST_CASE("standard input passes with its end, and any bytes at all") {
    ScratchDirectory scratch;
    World world(scratch.path());
    Attached job(world, order_of(attempt(1), {"cat"}));
    job.on_pipes();
    std::string bytes;
    for (int value = 0; value < 256; ++value) bytes += static_cast<char>(value);
    job.give_input(bytes);
    CHECK(job.until_output(bytes));
    job.end_input();
    CHECK(job.wait() == 0);
    CHECK(job.output == bytes);
}

TEST_CASE("fifty megabytes come through whole, and again through a slow reader") {
    ScratchDirectory scratch;
    World world(scratch.path());
    const std::string command =
        "python3 -c \"import sys; [sys.stdout.buffer.write(i.to_bytes(8,'little')*128) "
        "for i in range(51200)]\"";
    for (const bool is_slow : {false, true}) {
        const AttemptId id = attempt(is_slow ? 2 : 1);
        Attached job(world, shell(id, command));
        job.reads_output = !is_slow;
        job.on_pipes();
        if (is_slow) {
            // The output is not read: the job must wait, with little of it under way.
            const auto begin = std::chrono::steady_clock::now();
            world.until(
                [&] { return std::chrono::steady_clock::now() - begin > std::chrono::seconds(1); });
            CHECK_FALSE(world.is_over(id));
            CHECK(world.log(id).size() < 2'000'000);
            job.reads_output = true;
        }
        CHECK(job.wait() == 0);
        REQUIRE(job.output.size() == 51200U * 1024);
        bool is_whole = true;
        for (std::size_t at = 0; at < job.output.size(); at += 1024)
            is_whole &= static_cast<unsigned char>(job.output[at]) == ((at / 1024) & 0xff);
        CHECK(is_whole);
        CHECK(world.log(id) == job.output);
    }
}

TEST_CASE("a job that does not read its input still hears Ctrl-C") {
    ScratchDirectory scratch;
    World world(scratch.path());
    Attached job(world, shell(attempt(1),
                              "trap 'echo heard; exit 5' INT; echo ready; "
                              "while :; do sleep 0.02; done"));
    job.on_pipes();
    REQUIRE(job.until_output("ready\n"));
    job.give_input(std::string(60'000, 'x'));
    ::kill(job.pid(), SIGINT);
    CHECK(job.wait() == 5);
    CHECK(job.output == "ready\nheard\n");
}

TEST_CASE("Ctrl-C twice within a second is insistence") {
    ScratchDirectory scratch;
    World world(scratch.path());
    Attached job(world, shell(attempt(1),
                              "trap 'echo no' INT; echo ready; "
                              "while :; do sleep 0.02; done"));
    job.on_pipes();
    REQUIRE(job.until_output("ready\n"));
    // Until two of them come within a second: a busy machine may be slow to pass them on.
    REQUIRE(wait_for([&] {
        ::kill(job.pid(), SIGINT);
        ::usleep(50'000);
        return has_ended(job.pid());
    }));
    CHECK(job.wait() == kInsistedCode);
    CHECK(world.log(attempt(1)).find("no\n") != std::string::npos);
    world.launcher().stop(attempt(1), ports::StopReason::Cancel, base::Duration{0});
    CHECK(world.exit_of(attempt(1)).killed);
}

TEST_CASE("an output that is not read ends the job as it ends the command") {
    ScratchDirectory scratch;
    World world(scratch.path());
    Attached job(world, order_of(attempt(1), {"yes"}));
    job.on_pipes();
    REQUIRE(job.until_output("y\n"));
    job.close_output();
    CHECK(job.wait() == 128 + SIGPIPE);
}

TEST_CASE("an input that the job closes is closed for its writer") {
    ScratchDirectory scratch;
    World world(scratch.path());
    Attached job(world, shell(attempt(1), "exec <&-; echo closed; sleep 600"));
    job.on_pipes();
    REQUIRE(job.until_output("closed\n"));
    ::signal(SIGPIPE, SIG_IGN);
    CHECK(world.until([&] { return !job.try_input("x"); }));
    world.launcher().stop(attempt(1), ports::StopReason::Cancel, base::Duration{0});
    CHECK(job.wait() == 128 + SIGKILL);
}

TEST_CASE("a client that is killed leaves the job running, with its log and the end of input") {
    ScratchDirectory scratch;
    World world(scratch.path());
    Attached job(world, shell(attempt(1), "echo one; cat; echo two; exit 6"));
    job.on_pipes();
    REQUIRE(job.until_output("one\n"));
    ::kill(job.pid(), SIGKILL);
    CHECK(world.exit_of(attempt(1)).exit_code == 6);
    CHECK(world.log(attempt(1)) == "one\ntwo\n");
}

TEST_CASE("a hung-up client detaches") {
    ScratchDirectory scratch;
    World world(scratch.path());
    Attached job(world, shell(attempt(1), "echo one; sleep 0.3; exit 4"));
    job.on_pipes();
    REQUIRE(job.until_output("one\n"));
    ::kill(job.pid(), SIGHUP);
    CHECK(job.wait() == kDetachedCode);
    CHECK(world.exit_of(attempt(1)).exit_code == 4);
}

TEST_CASE("a client learns why a command of any length cannot be run") {
    for (const std::size_t length : {70'000U, 1'000'000U}) {
        ScratchDirectory scratch;
        World world(scratch.path());
        Attached job(world, order_of(attempt(1), {std::string(length, 'x')}));
        job.on_pipes();
        CHECK(job.wait() == 126);
        CHECK(job.errors.find("...\": File name too long") != std::string::npos);
        CHECK(world.exit_of(attempt(1)).exit_code == 126);
    }
}

TEST_CASE("only one client at a time, and only to a job that was made for it") {
    ScratchDirectory scratch;
    World world(scratch.path());
    Attached job(world, shell(attempt(1), "echo one; cat"));
    job.on_pipes();
    REQUIRE(job.until_output("one\n"));
    const auto second = attach::attach(job.socket(), {});
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().code == base::ErrorCode::Conflict);
    CHECK(second.error().message == "another client is attached to job 1");
    job.end_input();
    CHECK(job.wait() == 0);

    attach::AttachOptions hasty;
    hasty.patience_ms = 50;
    const auto missing = attach::attach(scratch.path() + "/no-such-socket", hasty);
    CHECK(missing.error().code == base::ErrorCode::Unavailable);
}

TEST_CASE("a job that is paused while its client does not read is not held up by it") {
    ScratchDirectory scratch;
    World world(scratch.path());
    const std::string saved = scratch.path() + "/saved";
    Attached job(world, shell(attempt(1), "trap 'echo saved >" + saved +
                                              "; exit 0' TERM; "
                                              "while :; do echo many many words; done"));
    job.reads_output = false;
    job.on_pipes();
    REQUIRE(world.until([&] { return world.log(attempt(1)).size() > 250'000; }));
    ::usleep(200'000);  // until every buffer on the way is full
    world.pause(attempt(1));
    const AttemptExit exit = world.exit_of(attempt(1));
    CHECK(exit.stop_asked);
    CHECK_FALSE(exit.killed);
    CHECK(read_file(saved) == "saved\n");
}

TEST_CASE("all ranks are heard, the input is for rank 0") {
    ScratchDirectory scratch;
    World world(scratch.path());
    Attached job(world, shell(attempt(1), "read line; echo $RANK got [$line]", 3));
    job.on_pipes();
    job.give_input("hello\n");
    CHECK(job.wait() == 0);  // ranks 1 and 2 see the end of their input
    CHECK(job.output.find("0 got [hello]\n") != std::string::npos);
    CHECK(job.output.find("1 got []\n") != std::string::npos);
    CHECK(job.output.find("2 got []\n") != std::string::npos);
}

TEST_CASE("on a terminal the job has size, keys and modes of ours, which come back") {
    ScratchDirectory scratch;
    World world(scratch.path());
    ports::LaunchOrder order =
        shell(attempt(1),
              "stty size; trap 'echo got int' INT; tty -s && "
              "echo terminal; read line; echo line=$line; "
              "until stty size | grep '50 132'; do sleep 0.02; done; cat; exit 12");
    order.spec.environment.push_back("TERM=dumb");
    Attached job(world, order, true);
    job.on_terminal(33, 77);
    termios before{};
    ::tcgetattr(job.slave().get(), &before);
    REQUIRE(job.until_output("33 77\r\nterminal\r\n"));
    termios during{};
    ::tcgetattr(job.slave().get(), &during);
    CHECK((during.c_lflag & ICANON) == 0);
    job.type("hello\r");
    CHECK(job.until_output("hello\r\nline=hello\r\n"));  // echoed by the job's own terminal
    job.type("\x03");
    CHECK(job.until_output("got int\r\n"));
    job.resize(50, 132);
    CHECK(job.until_output("50 132\r\n"));
    job.type("\x04");
    CHECK(job.wait() == 12);
    termios after{};
    ::tcgetattr(job.slave().get(), &after);
    CHECK(after.c_lflag == before.c_lflag);
    CHECK(after.c_iflag == before.c_iflag);
}

TEST_CASE("the last words on a terminal are not lost") {
    ScratchDirectory scratch;
    World world(scratch.path());
    for (std::int64_t round = 1; round <= 10; ++round) {
        Attached job(world, shell(attempt(round), "seq 1 2000; echo the end"), true);
        job.on_terminal(24, 80);
        CHECK(job.wait() == 0);
        CHECK(job.until_output("1999\r\n2000\r\nthe end\r\n"));
    }
}

TEST_CASE("a terminal job waits for its user to come back") {
    ScratchDirectory scratch;
    World world(scratch.path());
    Attached job(world, shell(attempt(1), "echo ready; read line; echo $line; exit 3"), true);
    job.on_terminal(24, 80);
    REQUIRE(job.until_output("ready\r\n"));
    ::kill(job.pid(), SIGKILL);
    ::waitpid(job.pid(), nullptr, 0);
    job.output.clear();
    job.on_terminal(24, 80);
    termios modes{};
    REQUIRE(world.until([&] {
        return ::tcgetattr(job.slave().get(), &modes) == 0 && (modes.c_lflag & ICANON) == 0;
    }));
    job.type("back\r");
    CHECK(job.wait() == 3);
    CHECK(job.output.find("back\r\n") != std::string::npos);
}

TEST_CASE("what is typed before there is a process for the command is not lost" *
          doctest::skip(!OrdinaryUser::is_possible())) {
    ScratchDirectory scratch;
    const std::string supervisor = OrdinaryUser::within_reach(scratch.path(), BERTH_SUPERVISOR);
    OrdinaryUser user(scratch.path());
    World world(scratch.path(), supervisor);
    const AttemptId id = attempt(1);
    Attached attached(world, shell(id, "cat"));
    REQUIRE(wait_for([&] { return world.supervisor_of(id) > 0; }));
    OrdinaryUser::allow(1, world.supervisor_of(id));
    attached.give_input("first\nlast\n");
    attached.end_input();
    attached.on_pipes();
    REQUIRE(world.until([&] { return !world.launcher().waits_for(id).empty(); }));
    OrdinaryUser::allow(1'000, world.supervisor_of(id));
    CHECK(attached.wait() == 0);
    CHECK(attached.output == "first\nlast\n");
    CHECK(attached.errors.starts_with("berth: waits to start: cannot make a process"));
}
