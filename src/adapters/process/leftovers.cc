// SPDX-License-Identifier: Apache-2.0
#include "adapters/process/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

#include <string_view>

#include "supervision/descriptor.h"
#include "supervision/mark.h"
#include "supervision/processes.h"

namespace berth::process {
namespace {

std::string read_environment(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/environ";
    const supervision::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string text(1, '\0');  // so that every assignment stands between two zeros
    if (!file.is_open()) return text;
    char buffer[16 * 1024];
    while (true) {
        const ssize_t size = ::read(file.get(), buffer, sizeof buffer);
        if (size <= 0) return text;
        text.append(buffer, static_cast<std::size_t>(size));
    }
}

bool has(std::string_view environment, const std::string& assignment) {
    return environment.find('\0' + assignment + '\0') != std::string_view::npos;
}

}  // namespace

int kill_leftovers(const std::string& cluster, ports::AttemptId id) {
    const std::string of_cluster = "BERTH_CLUSTER=" + cluster;
    const std::string of_job = "BERTH_JOB_ID=" + std::to_string(id.job.value);
    const std::string of_attempt = "BERTH_ATTEMPT=" + std::to_string(id.attempt);
    const std::uint64_t mark = supervision::mark_of({cluster, id.job.value, id.attempt});
    int killed = 0;
    DIR* directory = ::opendir("/proc");
    if (directory == nullptr) return 0;
    while (const dirent* entry = ::readdir(directory)) {
        const pid_t pid = static_cast<pid_t>(::strtol(entry->d_name, nullptr, 10));
        if (pid <= 0 || pid == ::getpid()) continue;
        if (!supervision::bears(pid, mark)) {
            const std::string environment = read_environment(pid);
            if (!has(environment, of_cluster) || !has(environment, of_job) ||
                !has(environment, of_attempt))
                continue;
        }
        // One that waits to be reaped is as good as gone.
        if (supervision::is_living(pid) && ::kill(pid, SIGKILL) == 0) ++killed;
    }
    ::closedir(directory);
    return killed;
}

}  // namespace berth::process
