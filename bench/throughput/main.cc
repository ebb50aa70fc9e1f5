// SPDX-License-Identifier: Apache-2.0
//
// How many jobs a second can the controller start? Everything of the server but its sockets and
// the processes: commands, decisions with quotas, the state, the event log in SQLite with a synced
// write for each turn of the loop. A deep queue of one-GPU jobs of 32 projects in 4 departments
// waits; in each turn a quarter of the GPUs is left by the jobs that ran longest, and taken by the
// next in line. Prints one JSON line.
//   berth-bench-throughput NODES [STARTS]        8 GPUs a node; TMPDIR says on which disk
#include <stdlib.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <span>
#include <string>

#include "adapters/sqlite/sqlite_store.h"
#include "control/controller.h"
#include "doubles/hand_clock.h"

namespace {

using namespace berth;

constexpr int kGpusPerNode = 8;
constexpr int kDepartments = 4;
constexpr int kProjects = 32;
constexpr int kSubmitsPerTurn = 4096;

[[noreturn]] void stop(const std::string& why) {
    std::fprintf(stderr, "berth-bench-throughput: %s\n", why.c_str());
    std::exit(1);
}

// Takes every order and runs nothing.
class NullLauncher final : public ports::Launcher {
  public:
    void set_listener(ports::LauncherListener* listener) override { listener_ = listener; }
    void start(const ports::LaunchOrder& order) override { started_.push_back(order.attempt); }
    void resume(const ports::LaunchOrder&) override {}
    model::PauseWay pause_way(ports::AttemptId) const override { return {}; }
    void stop(ports::AttemptId attempt, ports::StopReason, base::Duration) override {
        stop("no job should be paused, but job " + std::to_string(attempt.job.value));
    }
    void recover(std::span<const ports::BegunAttempt>) override {}

    std::deque<ports::AttemptId>& started() { return started_; }

  private:
    static void stop(const std::string& why) { ::stop(why); }

    ports::LauncherListener* listener_ = nullptr;
    std::deque<ports::AttemptId> started_;
};

// A directory that goes when the program ends.
class Scratch {
  public:
    Scratch() {
        std::string name =
            (std::filesystem::temp_directory_path() / "berth-throughput-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) stop("no directory can be made at " + name);
        path_ = name;
    }
    ~Scratch() { std::filesystem::remove_all(path_); }
    std::string path() const { return path_; }

  private:
    std::string path_;
};

double cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Bench {
  public:
    Bench(ports::Store& store, int nodes)
        : gpus_(nodes * kGpusPerNode), controller_(settings(), {clock_, store, launcher_}) {
        if (!controller_.recover()) stop("the new log cannot be read");
        const auto expect = [](const base::Status& status) {
            if (!status) stop(status.error().message);
        };
        for (int i = 0; i < nodes; ++i) {
            model::Node node;
            node.name = "node" + std::to_string(i);
            node.gpus = kGpusPerNode;
            controller_.set_node(node, "machine", expect);
        }
        controller_.step();
        for (int i = 0; i < kDepartments; ++i) add_project(department(i), {}, kDepartments);
        for (int i = 0; i < kProjects; ++i) {
            add_project("project" + std::to_string(i), department(i % kDepartments), kProjects);
        }
    }

    void submit(int jobs) {
        for (int i = 0; i < jobs; ++i) {
            model::Submission submission;
            submission.spec.project = "project" + std::to_string(i % kProjects);
            submission.spec.request.gpus = 1;
            submission.launch.command = {"train", "--config", "experiment.yaml"};
            submission.launch.workdir = "/home/susan/experiment";
            submission.launch.user = "susan";
            controller_.submit(submission, [](const auto& answer) {
                if (!answer) stop(answer.error().error.message);
            });
            if (i % kSubmitsPerTurn == kSubmitsPerTurn - 1) controller_.step();
        }
        controller_.step();
    }

    // The jobs that were ordered to start run from now on.
    void report_running() {
        auto& started = launcher_.started();
        for (; reported_ < started.size(); ++reported_) controller_.on_running(started[reported_]);
    }

    // One turn; returns how many jobs it started.
    int turn() {
        clock_.advance(base::Duration{1000});
        report_running();
        auto& running = launcher_.started();
        for (int i = 0; i < gpus_ / 4 && !running.empty(); ++i, --reported_) {
            controller_.on_exit(running.front(), {.detail = {}});
            running.pop_front();
        }
        const std::size_t before = running.size();
        controller_.step();
        if (controller_.has_failed()) stop(controller_.failure()->message);
        return static_cast<int>(running.size() - before);
    }

    std::size_t running() { return launcher_.started().size(); }

  private:
    static control::Settings settings() {
        control::Settings settings;
        settings.policy = model::berth_policy();
        return settings;
    }
    static std::string department(int i) { return "department" + std::to_string(i); }

    void add_project(const std::string& name, const std::string& parent, int siblings) {
        model::Project project;
        project.name = name;
        project.parent = parent;
        project.rights.quota = base::gpus(gpus_ / siblings);
        controller_.set_project(project, "bench", [](const base::Status& status) {
            if (!status) stop(status.error().message);
        });
        controller_.step();
    }

    int gpus_;
    tests::HandClock clock_;
    NullLauncher launcher_;
    control::Controller controller_;
    std::size_t reported_ = 0;  // of those that were started, as running
};

void measure(int nodes, int starts_wanted) {
    const Scratch scratch;
    auto store = berth::adapters::sqlite::open_store(scratch.path());
    if (!store) stop(store.error().message);
    Bench bench(**store, nodes);
    const int gpus = nodes * kGpusPerNode;
    bench.submit(starts_wanted + 2 * gpus);
    while (static_cast<int>(bench.running()) < gpus) bench.turn();
    int starts = 0;
    int turns = 0;
    const double cpu = cpu_seconds();
    const auto begin = std::chrono::steady_clock::now();
    for (; starts < starts_wanted; ++turns) starts += bench.turn();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf(
        "{\"bench\": \"throughput\", \"nodes\": %d, \"starts_per_s\": %.0f, \"starts\": %d, "
        "\"turns\": %d, \"cpu_us_per_start\": %.1f}\n",
        nodes, starts / took.count(), starts, turns, (cpu_seconds() - cpu) * 1e6 / starts);
}

}  // namespace

int main(int argc, char** argv) {
    const std::span arguments(argv, static_cast<std::size_t>(argc));
    const int nodes = arguments.size() > 1 ? std::atoi(arguments[1]) : 0;
    const int starts = arguments.size() > 2 ? std::atoi(arguments[2]) : 50'000;
    if (nodes < 1 || starts < 1) stop("usage: berth-bench-throughput NODES [STARTS]");
    measure(nodes, starts);
}
