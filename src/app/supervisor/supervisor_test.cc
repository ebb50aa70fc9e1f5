// SPDX-License-Identifier: Apache-2.0
//
// The decisions of a supervisor; tests/process runs it whole.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/supervisor/output/log_file.h"
#include "app/supervisor/output/log_limit.h"
#include "app/supervisor/processes/environment.h"
#include "app/supervisor/processes/pause_signal.h"
#include "app/supervisor/talk/status_lines.h"
#include "supervision/processes.h"
#include "supervision/status_file.h"

using namespace berth;
using namespace berth::supervisor;

namespace {

constexpr std::uint64_t caught(std::initializer_list<int> signals) {
    std::uint64_t mask = 0;
    for (const int signal : signals) mask |= std::uint64_t{1} << (signal - 1);
    return mask;
}

std::string content(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// No file of this process gets longer than that, as on a full disk.
class FilesEndAt {
  public:
    explicit FilesEndAt(rlim_t size) {
        ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{size, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FilesEndAt() { ::setrlimit(RLIMIT_FSIZE, &before_); }
    FilesEndAt(const FilesEndAt&) = delete;
    FilesEndAt& operator=(const FilesEndAt&) = delete;

  private:
    rlimit before_{};
};

// A new file, open for appending.
supervision::Descriptor new_file(const std::filesystem::path& path) {
    std::filesystem::remove(path);
    return supervision::Descriptor(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
}

}  // namespace

TEST_CASE("at whichever byte the disk is full, the status is whole as soon as there is room") {
    const auto path =
        std::filesystem::temp_directory_path() / ("berth-status-" + std::to_string(::getpid()));
    const std::string starting = supervision::starting_line("boot", 7);
    const std::string exit = supervision::exit_line({3, 0, false, false, "task 0 exited with 3"});
    for (std::size_t end = 0; end < starting.size() + exit.size(); ++end) {
        CAPTURE(end);
        StatusLines lines(new_file(path));
        {
            const FilesEndAt limit(end);
            lines.add(starting);
            lines.add(exit);
            lines.write_more();
            CHECK_FALSE(lines.are_written());
            // A reader takes what is whole, and no exit for less than one.
            const auto reading = supervision::parse_status(content(path));
            CHECK(reading.started == (end >= starting.size()));
            CHECK_FALSE(reading.exit.has_value());
        }
        lines.write_more();
        CHECK(lines.are_written());
        CHECK(content(path) == starting + exit);
    }
    std::filesystem::remove(path);
}

TEST_CASE("room for the status is taken when the file is made, and it stays empty") {
    const auto path =
        std::filesystem::temp_directory_path() / ("berth-room-" + std::to_string(::getpid()));
    const supervision::Descriptor file = new_file(path);
    REQUIRE(supervision::take_room(file.get()));
    struct stat about{};
    REQUIRE(::fstat(file.get(), &about) == 0);
    CHECK(about.st_size == 0);
    CHECK(about.st_blocks * 512 >= 2048);
    // A long reason leaves room for the line.
    CHECK(supervision::exit_line({1, 0, false, false, std::string(100'000, 'x')}).size() < 2048);
    std::filesystem::remove(path);
}

TEST_CASE("output that the log does not take is counted, and a line says so") {
    const auto path =
        std::filesystem::temp_directory_path() / ("berth-log-" + std::to_string(::getpid()));
    LogFile log(new_file(path));
    log.write("first\n");
    {
        const FilesEndAt limit(8);
        log.write("second\n");
        log.write("third\n");
    }
    log.keep(false);
    log.write("fourth\n");
    log.keep(true);
    log.write("last\n");
    CHECK(content(path) ==
          "first\nse\n[berth: 18 bytes are missing here: the disk was full]\nlast\n");
    std::filesystem::remove(path);
}

TEST_CASE("auto guesses a signal only where someone listens to it") {
    const std::vector<std::string> submitit = {"SUBMITIT_EXECUTOR=slurm"};
    const std::vector<std::string> slurm = {"SLURM_NTASKS=4"};
    CHECK(choose_pause_signal("auto", {}, caught({SIGUSR1, SIGUSR2})) == SIGTERM);
    CHECK(choose_pause_signal("auto", submitit, caught({SIGUSR2})) == SIGUSR2);
    CHECK(choose_pause_signal("auto", submitit, caught({SIGUSR1})) == SIGTERM);
    CHECK(choose_pause_signal("auto", slurm, caught({SIGUSR1})) == SIGUSR1);
    CHECK(choose_pause_signal("auto", slurm, 0) == SIGTERM);
}

TEST_CASE("a named signal is taken with and without SIG") {
    CHECK(choose_pause_signal("USR1", {}, 0) == SIGUSR1);
    CHECK(choose_pause_signal("SIGINT", {}, 0) == SIGINT);
    CHECK(choose_pause_signal("none", {}, caught({SIGTERM})) == kKillAtOnce);
    CHECK(choose_pause_signal("whatever", {}, 0) == SIGTERM);
}

TEST_CASE("a task knows its place among those that run, and in its group") {
    supervision::Order order;
    order.tasks = {
        {0, 0, 1, 0, "0", "0", "a"}, {4, 0, 2, 1, "0", "0", "b"}, {6, 1, 2, 1, "1", "1", "b"}};
    const std::vector<std::string> result = task_environment(order, order.tasks[2], 20'001);
    CHECK(value_of(result, "RANK") == "2");
    CHECK(value_of(result, "WORLD_SIZE") == "3");
    CHECK(value_of(result, "BERTH_GROUP") == "b");
    CHECK(value_of(result, "BERTH_GROUP_RANK") == "1");
    CHECK(value_of(result, "BERTH_GROUP_SIZE") == "2");
}

TEST_CASE("what Berth decides replaces what the user's environment said") {
    supervision::Order order;
    order.job = 4;
    order.tasks = {{0, 0, 2, 0, "4", "4"}, {1, 1, 2, 0, "5", "5"}};
    order.environment = {"RANK=9", "BERTH_RESUME=1", "RANKS=kept", "CUDA_VISIBLE_DEVICES=0,1,2"};
    const std::vector<std::string> result = task_environment(order, {1, 1, 2, 0, "5", "5"}, 20'001);
    CHECK(value_of(result, "RANK") == "1");
    CHECK(value_of(result, "RANKS") == "kept");
    CHECK(value_of(result, "CUDA_VISIBLE_DEVICES") == "5");
    CHECK(value_of(result, "BERTH_RESUME") == "");
    CHECK(value_of(result, "MASTER_PORT") == "20001");
    const auto is_rank = [](const std::string& text) { return text.starts_with("RANK="); };
    CHECK(std::count_if(result.begin(), result.end(), is_rank) == 1);
}

TEST_CASE("jobs that start together get ports of their own") {
    supervision::Order first;
    supervision::Order second;
    first.job = 1;
    second.job = 2;
    CHECK(choose_port(first) != choose_port(second));
    CHECK(choose_port(first) >= 20'000);
    CHECK(choose_port(first) < 32'000);
}

TEST_CASE("the handlers of a process are read from the system") {
    ::signal(SIGUSR2, [](int) {});
    CHECK(supervision::is_caught(supervision::caught_signals(::getpid()), SIGUSR2));
    ::signal(SIGUSR2, SIG_DFL);
    CHECK_FALSE(supervision::is_caught(supervision::caught_signals(::getpid()), SIGUSR2));
}

TEST_CASE(
    "a log beyond its limit keeps its beginning and its newest lines, and says what is gone") {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("berth-log-" + std::to_string(::getpid())))
            .string();
    std::ofstream log(path, std::ios::app);
    log << "first line\n";
    const auto grow = [&](int mib) {
        for (int i = 0; i < mib; ++i) log << std::string(1 << 20, 'x') << '\n';
        log << "newest line\n" << std::flush;
    };
    const auto on_disk = [&] {
        struct stat about{};
        ::stat(path.c_str(), &about);
        return about.st_blocks * 512;
    };
    grow(1);
    limit_log(path, {Room::Ample, 2 << 20});
    CHECK(std::filesystem::file_size(path) == (1 << 20) + 24);
    for (int round = 0; round < 3; ++round) {
        grow(10);
        limit_log(path, {Room::Ample, 2 << 20});
        CHECK(on_disk() <= (2 << 20) + 8192);
        std::ifstream in(path);
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        CHECK(text.starts_with("first line\nxxx"));
        CHECK(text.ends_with("xxx\nnewest line\n"));
        CHECK(text.find("MiB are cut out here: a log may take 2") != std::string::npos);
    }
    std::filesystem::remove(path);
    limit_log(path, {Room::Ample, 2 << 20});  // one that is not there
    CHECK_FALSE(std::filesystem::exists(path));
}
