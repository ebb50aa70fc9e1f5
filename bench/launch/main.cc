// SPDX-License-Identifier: Apache-2.0
//
// How many jobs a second can the process launcher carry, and what does one cost? Starts COUNT real
// processes, at most WIDTH at a time, waits for every exit and prints one JSON line: jobs per
// second, CPU time per job of this process and of all processes together, and the time from
// start() to on_running and to on_exit.
//   berth-bench-launch SUPERVISOR [COUNT [WIDTH [COMMAND...]]]
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <fstream>
#include <map>

#include "adapters/process/launcher.h"
#include "runtime/folder.h"

namespace {

using namespace berth;
using Clock = std::chrono::steady_clock;

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double cpu_seconds(int who) {
    rusage usage{};
    ::getrusage(who, &usage);
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Counts the CPU time of this process and of everything that comes of it, also of processes that
// were reaped by others, in a control group of its own. Needs root and the cpuacct controller.
class GroupMeter {
  public:
    GroupMeter() : path_("/sys/fs/cgroup/cpuacct/berth-bench-" + std::to_string(::getpid())) {
        if (::mkdir(path_.c_str(), 0755) != 0) return;
        std::ofstream(path_ + "/cgroup.procs") << ::getpid() << std::flush;
        is_working_ = true;
    }
    ~GroupMeter() {
        std::ofstream("/sys/fs/cgroup/cpuacct/cgroup.procs") << ::getpid() << std::flush;
        ::rmdir(path_.c_str());
    }
    // -1 when it cannot be known.
    double seconds() const {
        std::int64_t nanoseconds = 0;
        std::ifstream(path_ + "/cpuacct.usage") >> nanoseconds;
        return is_working_ ? static_cast<double>(nanoseconds) / 1e9 : -1;
    }

  private:
    std::string path_;
    bool is_working_ = false;
};

double percentile_ms(std::vector<double>& values, double part) {
    if (values.empty()) return -1;
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

class Bench final : public ports::LauncherListener {
  public:
    Bench(process::ProcessLauncher& launcher, model::LaunchSpec spec, int count)
        : launcher_(launcher), spec_(std::move(spec)), count_(count) {}

    void start_next() {
        if (started_ == count_) return;
        ports::LaunchOrder order;
        order.attempt = {model::JobId{++started_}, 1};
        order.job_name = "bench";
        order.project = "bench";
        order.spec = spec_;
        order.tasks = {{0, 0, "n0", {0}}};
        begun_[order.attempt] = Clock::now();
        launcher_.start(order);
    }

    void on_running(ports::AttemptId id) override { running_ms_.push_back(since(id)); }
    void on_saved(ports::AttemptId) override {}
    void on_frozen(ports::AttemptId, const model::Frozen&) override {}
    void on_exit(ports::AttemptId id, const ports::AttemptExit& exit) override {
        exit_ms_.push_back(since(id));
        begun_.erase(id);
        if (exit.exit_code != 0 && failures_++ == 0)
            std::fprintf(stderr, "exit %d: %s\n", exit.exit_code, exit.detail.c_str());
        ++ended_;
        start_next();
    }
    void on_lost(ports::AttemptId, const std::string& detail) override {
        std::fprintf(stderr, "lost: %s\n", detail.c_str());
        ++failures_;
        ++ended_;
        start_next();
    }

    bool is_done() const { return ended_ == count_; }

    void print(double wall, double own, double all) {
        const double count = count_;
        std::printf(
            "{\"bench\":\"launch\",\"jobs\":%d,\"failures\":%d,\"jobs_per_s\":%.0f,"
            "\"cpu_ms_per_job\":%.3f,\"launcher_cpu_ms_per_job\":%.3f,"
            "\"running_p50_ms\":%.3f,\"running_p99_ms\":%.3f,"
            "\"exit_p50_ms\":%.3f,\"exit_p99_ms\":%.3f}\n",
            count_, failures_, count / wall, all / count * 1e3, own / count * 1e3,
            percentile_ms(running_ms_, 0.5), percentile_ms(running_ms_, 0.99),
            percentile_ms(exit_ms_, 0.5), percentile_ms(exit_ms_, 0.99));
    }

  private:
    double since(ports::AttemptId id) {
        return std::chrono::duration<double, std::milli>(Clock::now() - begun_[id]).count();
    }

    process::ProcessLauncher& launcher_;
    model::LaunchSpec spec_;
    int count_;
    int started_ = 0;
    int ended_ = 0;
    int failures_ = 0;
    std::map<ports::AttemptId, Clock::time_point> begun_;
    std::vector<double> running_ms_;
    std::vector<double> exit_ms_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: berth-bench-launch SUPERVISOR [COUNT [WIDTH [COMMAND...]]]\n");
        return 124;
    }
    const int count = argc > 2 ? std::atoi(argv[2]) : 2000;
    const int width = argc > 3 ? std::atoi(argv[3]) : 8;
    model::LaunchSpec spec;
    spec.command = {"/bin/true"};
    if (argc > 4) spec.command.assign(argv + 4, argv + argc);
    spec.workdir = "/";
    spec.environment = {"PATH=/usr/bin:/bin", "HOME=/root"};
    // A disk on which many files were deleted within the last minutes makes new ones slowly (ext4
    // looks at every inode freed lately), and this bench deletes thousands: TMPDIR=/dev/shm
    // measures the launcher, a plain run the disk as well.
    const char* place = ::getenv("TMPDIR");
    std::string data_dir = std::string(place != nullptr ? place : "/tmp") + "/berth-bench-XXXXXX";
    if (::mkdtemp(data_dir.data()) == nullptr) return 1;

    const GroupMeter meter;
    boost::asio::io_context loop;
    const auto folder = runtime::Folder::make(data_dir + "/run", runtime::Openness::Private);
    if (!folder) return 1;
    process::ProcessLauncher launcher(loop, {data_dir, argv[1], "bench", folder->path()});
    Bench bench(launcher, spec, count);
    launcher.set_listener(&bench);
    const Clock::time_point begin = Clock::now();
    for (int slot = 0; slot < width; ++slot) bench.start_next();
    while (!bench.is_done()) loop.run_one();
    const double wall = std::chrono::duration<double>(Clock::now() - begin).count();
    ::usleep(50'000);  // until the last supervisor is gone
    bench.print(wall, cpu_seconds(RUSAGE_SELF), meter.seconds());
    return ::system(("rm -rf " + data_dir).c_str()) == 0 ? 0 : 1;
}
