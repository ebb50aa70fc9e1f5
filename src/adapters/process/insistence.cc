// SPDX-License-Identifier: Apache-2.0
#include "adapters/process/insistence.h"

#include <signal.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "adapters/process/attempt_files.h"
#include "supervision/processes.h"

namespace berth::process {
namespace {

namespace fs = std::filesystem;

// 0 when nothing of the attempt is known to live.
pid_t supervisor_of(const std::string& jobs_dir, ports::AttemptId id) {
    const AttemptState state = look_at(jobs_dir, id);
    return state.is_supervised ? state.status.supervisor : 0;
}

// Supervisors and spawners are one program; what has ended has no name any more.
bool is_ours(pid_t pid) {
    std::string name;
    std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/cmdline"), name, '\0');
    return name == "berth-supervisor";
}

bool has_open(pid_t pid, const struct stat& file) {
    std::error_code none;
    for (const auto& open : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd", none)) {
        struct stat about{};
        const bool is_there = ::stat(open.path().c_str(), &about) == 0;
        if (is_there && about.st_dev == file.st_dev && about.st_ino == file.st_ino) return true;
    }
    return false;
}

}  // namespace

void wake_supervisor(const std::string& jobs_dir, ports::AttemptId id) {
    struct stat status{};
    const AttemptState state = look_at(jobs_dir, id);
    if (!state.is_supervised || ::stat(status_path(jobs_dir, id).c_str(), &status) != 0) return;
    const pid_t supervisor = state.status.supervisor;
    const pid_t named =
        supervision::is_living(supervisor) ? supervisor : supervision::parent_of(supervisor);
    if (named > 1 && is_ours(named) && has_open(named, status)) {
        ::kill(named, SIGCONT);
        return;
    }
    // Its supervisor was killed, and waited for: only the file itself leads to its spawner.
    std::error_code none;
    for (const auto& process : fs::directory_iterator("/proc", none)) {
        const pid_t pid = std::atoi(process.path().filename().c_str());
        if (pid > 1 && is_ours(pid) && has_open(pid, status)) ::kill(pid, SIGCONT);
    }
}

void kill_supervisor(const std::string& jobs_dir, ports::AttemptId id, Only only) {
    const pid_t pid = supervisor_of(jobs_dir, id);
    if (pid <= 1 || !is_ours(pid)) return;
    if (only == Only::Anyhow || supervision::is_stopped(pid)) ::kill(pid, SIGKILL);
}

}  // namespace berth::process
