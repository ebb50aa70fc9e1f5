// SPDX-License-Identifier: Apache-2.0
#include "adapters/process/insistence.h"

#include <signal.h>

#include <fstream>

#include "adapters/process/attempt_files.h"
#include "supervision/processes.h"

namespace berth::process {
namespace {

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

}  // namespace

void wake_supervisor(const std::string& jobs_dir, ports::AttemptId id) {
    const pid_t pid = supervisor_of(jobs_dir, id);
    if (pid <= 1) return;
    const pid_t target = supervision::is_living(pid) ? pid : supervision::parent_of(pid);
    if (target > 1 && is_ours(target)) ::kill(target, SIGCONT);
}

void kill_supervisor(const std::string& jobs_dir, ports::AttemptId id, Only only) {
    const pid_t pid = supervisor_of(jobs_dir, id);
    if (pid <= 1 || !is_ours(pid)) return;
    if (only == Only::Anyhow || supervision::is_stopped(pid)) ::kill(pid, SIGKILL);
}

}  // namespace berth::process
