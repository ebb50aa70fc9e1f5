// SPDX-License-Identifier: Apache-2.0
#include "app/trainer/trainer.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "app/trainer/checkpoint.h"
#include "base/rng.h"

using namespace berth;

namespace {

struct Ended {
    int code = -1;
    std::string output;
};

std::string read_all(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

class Scratch {
  public:
    Scratch() {
        char name[] = "/tmp/berth-trainer-XXXXXX";
        path_ = ::mkdtemp(name);
    }
    ~Scratch() { std::filesystem::remove_all(path_); }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

// Runs the trainer in a process of its own; sends it `signal` once it has printed `after_lines`.
Ended train(const Scratch& scratch, const std::vector<std::string>& arguments, int signal = 0,
            int after_lines = 0) {
    const std::string path = scratch.path() + "/output";
    std::filesystem::remove(path);  // of the run before
    ::fflush(nullptr);  // what the test framework has not written yet is not for the child
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::setenv("BERTH_CHECKPOINT_DIR", scratch.path().c_str(), 1);
        ::dup2(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
        ::dup2(1, 2);
        ::_exit(trainer::run_trainer(arguments));
    }
    int status = 0;
    while (::waitpid(pid, &status, WNOHANG) == 0) {
        const std::string text = read_all(path);
        if (signal != 0 && std::count(text.begin(), text.end(), '\n') >= after_lines)
            ::kill(pid, std::exchange(signal, 0));
        ::usleep(1'000);
    }
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_all(path)};
}

// The lines of steps alone.
std::string steps_of(const std::string& output) {
    std::istringstream lines(output);
    std::string steps;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("step ")) steps += line + '\n';
    }
    return steps;
}

}  // namespace

TEST_CASE("a checkpoint survives with every bit, and a damaged one is refused") {
    const Scratch scratch;
    const std::string path = scratch.path() + "/state";
    CHECK(trainer::load(path)->has_value() == false);
    base::Rng rng(3);
    for (int round = 0; round < 50; ++round) {
        const trainer::State state{rng.between(0, 1'000'000),
                                   1.0 / static_cast<double>(rng.between(1, 1'000'000)),
                                   rng.next()};
        REQUIRE(trainer::save(path, state).has_value());
        CHECK(trainer::load(path).value() == state);
    }
    const std::string whole = read_all(path);
    std::ofstream(path) << whole.substr(0, whole.size() / 2);
    CHECK(trainer::load(path).error().code == base::ErrorCode::Invalid);
    CHECK(trainer::save("/no/such/place", {}).error().code == base::ErrorCode::Unavailable);
}

TEST_CASE("a run that is paused five times is step for step and bit for bit the one that is not") {
    const std::vector<std::string> arguments = {"--steps=60", "--step-time=4ms", "--print-every=1",
                                                "--seed=7"};
    const Scratch undisturbed;
    const Ended whole = train(undisturbed, arguments);
    REQUIRE(whole.code == 0);

    const Scratch scratch;
    std::string steps;
    for (int pause = 0; pause < 5; ++pause) {
        const Ended part = train(scratch, arguments, SIGTERM, 6 + pause);
        CHECK(part.code == 0);
        CHECK(part.output.find("saved at step ") != std::string::npos);
        CHECK((part.output.find("resumed at step ") != std::string::npos) == (pause > 0));
        steps += steps_of(part.output);
    }
    const Ended last = train(scratch, arguments);
    CHECK(last.code == 0);
    CHECK(last.output.find("done: 60 steps") != std::string::npos);
    CHECK(steps + steps_of(last.output) == steps_of(whole.output));
    CHECK(trainer::load(scratch.path() + "/trainer-0.state").value() ==
          trainer::load(undisturbed.path() + "/trainer-0.state").value());
}

TEST_CASE("a run that is killed goes on from its last checkpoint") {
    const std::vector<std::string> arguments = {"--steps=30", "--step-time=4ms", "--print-every=1",
                                                "--checkpoint-every=5"};
    const Scratch scratch;
    CHECK(train(scratch, arguments, SIGKILL, 13).code == 128 + SIGKILL);
    const Ended rest = train(scratch, arguments);
    CHECK(rest.code == 0);
    const std::size_t at = rest.output.find("resumed at step ");
    REQUIRE(at != std::string::npos);
    CHECK(std::stoi(rest.output.substr(at + 16)) % 5 == 0);
    CHECK(std::stoi(rest.output.substr(at + 16)) >= 10);
}

TEST_CASE("Ctrl-C saves as well and is reported as such") {
    const Scratch scratch;
    const Ended ended = train(scratch, {"--step-time=10ms"}, SIGINT, 2);
    CHECK(ended.code == 130);
    CHECK(ended.output.find("saved at step ") != std::string::npos);
}

TEST_CASE("a finished run that is started again has nothing to do") {
    const Scratch scratch;
    CHECK(train(scratch, {"--steps", "3", "--step-time", "1ms"}).code == 0);
    const Ended again = train(scratch, {"--steps", "3", "--step-time", "1ms"});
    CHECK(again.code == 0);
    CHECK(steps_of(again.output) == "");
}

TEST_CASE("what it does not understand it says") {
    const Scratch scratch;
    for (const char* bad : {"--step=3", "--steps=many", "--steps", "--step-time=5", "--steps=-1"}) {
        const Ended ended = train(scratch, {bad});
        CAPTURE(bad);
        CHECK(ended.code == 124);
        CHECK(ended.output.find("usage: berth-trainer") != std::string::npos);
    }
}

TEST_CASE("on simulated GPUs it says what it does on each, until it ends") {
    const Scratch scratch;
    ::setenv("BERTH_SIMULATED_GPUS", (scratch.path() + "/n1").c_str(), 1);
    ::setenv("CUDA_VISIBLE_DEVICES", "2,5", 1);
    const std::vector<std::string> steps = {"--step-time", "1ms", "--print-every", "500",
                                            "--steps"};
    const auto run = [&](const char* many, int signal) {
        std::vector<std::string> arguments = steps;
        arguments.emplace_back(many);
        train(scratch, arguments, signal, 2);
        std::set<std::string> found;
        for (const auto& file : std::filesystem::directory_iterator(scratch.path())) {
            const std::string name = file.path().filename().string();
            if (!name.starts_with("n1.")) continue;
            found.insert(name.substr(0, name.rfind('.')));
            int busy = 0;
            int memory = 0;
            std::istringstream(read_all(file.path().string())) >> busy >> memory;
            CHECK(busy > 0);
            CHECK(busy <= 100);
            CHECK(memory > 0);
            std::filesystem::remove(file.path());
        }
        return found;
    };
    CHECK(run("100000", SIGKILL) == std::set<std::string>{"n1.2", "n1.5"});
    CHECK(run("600", 0).empty());
    ::unsetenv("BERTH_SIMULATED_GPUS");
    ::unsetenv("CUDA_VISIBLE_DEVICES");
}
