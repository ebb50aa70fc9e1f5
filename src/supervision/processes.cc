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
    std::uint64_t start = 0;
};

Stat stat_of(pid_t pid) {
    const std::string stat = read_small("/proc/" + std::to_string(pid) + "/stat");
    const std::size_t name_end = stat.rfind(')');  // the name may itself hold brackets
    if (name_end == std::string::npos || name_end + 4 >= stat.size()) return {};
    Stat found{stat[name_end + 2]};
    const char* rest = stat.c_str() + name_end + 3;
    char* end = nullptr;
    for (int field = 4; field <= 22; ++field, rest = end) {  // proc_pid_stat(5)
        const std::uint64_t number = ::strtoull(rest, &end, 10);
        if (field == 4) found.parent = static_cast<pid_t>(number);
        if (field == 22) found.start = number;
    }
    return found;
}

// 0 when it is gone or has ended and only waits to be reaped.
pid_t living_parent(pid_t pid) {
    const Stat stat = stat_of(pid);
    return stat.state == 'Z' || stat.state == 'X' ? 0 : stat.parent;
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

std::uint64_t start_of(pid_t pid) { return stat_of(pid).start; }

pid_t parent_of(pid_t pid) { return stat_of(pid).parent; }

bool is_stopped(pid_t pid) { return stat_of(pid).state == 'T'; }

}  // namespace berth::supervision
