// SPDX-License-Identifier: Apache-2.0
#include "supervision/processes.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <string>

#include "supervision/descriptor.h"

namespace berth::supervision {
namespace {

// A whole small file of /proc; empty when the process is gone.
std::string read_small(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return {};
    char buffer[4096];
    const ssize_t size = ::read(file.get(), buffer, sizeof buffer);
    return size > 0 ? std::string(buffer, static_cast<std::size_t>(size)) : std::string();
}

struct Stat {
    char state = 'X';
    pid_t parent = 0;
    std::uint64_t flags = 0;
    std::uint64_t threads = 0;  // the first one counts until all have ended
    std::uint64_t start = 0;
};

// Of a process or a thread, by its folder in /proc.
Stat stat_in(const std::string& folder) {
    const std::string stat = read_small(folder + "/stat");
    const std::size_t name_end = stat.rfind(')');  // the name may itself hold brackets
    if (name_end == std::string::npos || name_end + 4 >= stat.size()) return {};
    Stat found{stat[name_end + 2]};
    const char* rest = stat.c_str() + name_end + 3;
    char* end = nullptr;
    for (int field = 4; field <= 22; ++field, rest = end) {  // proc_pid_stat(5)
        const std::uint64_t number = ::strtoull(rest, &end, 10);
        if (field == 4) found.parent = static_cast<pid_t>(number);
        if (field == 9) found.flags = number;
        if (field == 20) found.threads = number;
        if (field == 22) found.start = number;
    }
    return found;
}

Stat stat_of(pid_t pid) { return stat_in("/proc/" + std::to_string(pid)); }

// 0 when it is gone or has ended and only waits to be reaped.
pid_t living_parent(pid_t pid) {
    const Stat stat = stat_of(pid);
    const bool has_ended = stat.state == 'X' || (stat.state == 'Z' && stat.threads <= 1);
    return has_ended ? 0 : stat.parent;
}

std::multimap<pid_t, pid_t> children_by_parent() {
    std::multimap<pid_t, pid_t> children;
    DIR* directory = ::opendir("/proc");
    if (directory == nullptr) return children;
    while (const dirent* entry = ::readdir(directory)) {
        const pid_t pid = static_cast<pid_t>(::strtol(entry->d_name, nullptr, 10));
        if (pid <= 0) continue;
        if (const pid_t parent = living_parent(pid); parent > 0) children.emplace(parent, pid);
    }
    ::closedir(directory);
    return children;
}

}  // namespace

std::vector<Process> descendants_of(pid_t root) {
    const std::multimap<pid_t, pid_t> children = children_by_parent();
    std::vector<Process> found = {{root, 0}};
    for (std::size_t at = 0; at < found.size(); ++at) {
        const auto [first, last] = children.equal_range(found[at].pid);
        for (auto child = first; child != last; ++child)
            found.push_back({child->second, child->first});
    }
    found.erase(found.begin());
    return found;
}

std::uint64_t caught_signals(pid_t pid) {
    const std::string status = read_small("/proc/" + std::to_string(pid) + "/status");
    const std::size_t at = status.find("\nSigCgt:");
    if (at == std::string::npos) return 0;
    return ::strtoull(status.c_str() + at + ::strlen("\nSigCgt:"), nullptr, 16);
}

bool is_living(pid_t pid) { return living_parent(pid) > 0; }

bool is_leaving(pid_t pid) {
    constexpr std::uint64_t kIsExiting = 4;  // PF_EXITING of the kernel
    const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
    DIR* directory = ::opendir(tasks.c_str());
    if (directory == nullptr) return true;
    bool is_any_left = false;
    while (const dirent* entry = ::readdir(directory)) {
        if (entry->d_name[0] == '.') continue;
        const Stat thread = stat_in(tasks + '/' + entry->d_name);
        is_any_left |= thread.state != 'X' && (thread.flags & kIsExiting) == 0;
    }
    ::closedir(directory);
    return !is_any_left;
}

std::uint64_t start_of(pid_t pid) { return stat_of(pid).start; }

pid_t parent_of(pid_t pid) { return stat_of(pid).parent; }

bool is_stopped(pid_t pid) { return stat_of(pid).state == 'T'; }

}  // namespace berth::supervision
