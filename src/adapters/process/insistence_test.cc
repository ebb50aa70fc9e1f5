// SPDX-License-Identifier: Apache-2.0
#include "adapters/process/insistence.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "adapters/process/attempt_files.h"
#include "supervision/processes.h"
#include "supervision/status_file.h"

using namespace berth;

namespace {

// Stands still, under the name of a supervisor, with this file open.
pid_t stopped_process(const char* name, const std::string& file) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::flock(::open(file.c_str(), O_RDWR), LOCK_EX | LOCK_NB);
        ::execl("/bin/sleep", name, "1000", nullptr);
        ::_exit(1);
    }
    int status = 0;
    while (::kill(child, 0) == 0 && supervision::is_living(child)) {
        // Its name is that of this program until it has become another one.
        if (std::filesystem::read_symlink("/proc/" + std::to_string(child) + "/exe") ==
            std::filesystem::canonical("/bin/sleep"))
            break;
        std::this_thread::yield();
    }
    ::kill(child, SIGSTOP);
    ::waitpid(child, &status, WUNTRACED);
    return child;
}

void end(pid_t process) {
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
}

}  // namespace

TEST_CASE("a stopped spawner that no server remembers is found by the file that it keeps") {
    char name[] = "/tmp/berth-insist-XXXXXX";
    const std::string jobs_dir = ::mkdtemp(name);
    const ports::AttemptId id{{7}, 1};
    REQUIRE(process::create_status(jobs_dir, {id, ""}).has_value());
    const std::string path = process::status_path(jobs_dir, id);
    // Its supervisor has ended, and was waited for.
    const std::string line = supervision::starting_line("boot", 0x3fffff);
    const int file = ::open(path.c_str(), O_WRONLY);
    REQUIRE(::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
    ::close(file);
    const pid_t spawner = stopped_process("berth-supervisor", path);
    const pid_t stranger = stopped_process("sleep", path);
    const pid_t other = stopped_process("berth-supervisor", "/dev/null");
    process::wake_supervisor(jobs_dir, id);
    for (int i = 0; i < 1000 && supervision::is_stopped(spawner); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    CHECK_FALSE(supervision::is_stopped(spawner));
    CHECK(supervision::is_stopped(stranger));
    CHECK(supervision::is_stopped(other));
    for (const pid_t process : {spawner, stranger, other}) end(process);
    std::filesystem::remove_all(jobs_dir);
}
