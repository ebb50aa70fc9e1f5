// SPDX-License-Identifier: Apache-2.0
#include "vgpu/freezer/host_memory.h"

#include <algorithm>
#include <fstream>

namespace berth::vgpu::freezer {
namespace {

constexpr const char* kCgroups = "/sys/fs/cgroup";

std::optional<std::int64_t> number_in(const std::string& path) {
    std::ifstream file(path);
    std::int64_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;  // "max" is no number
}

std::optional<std::int64_t> of_machine() {
    std::ifstream file("/proc/meminfo");
    std::string name;
    std::int64_t kib = 0;
    std::string unit;
    while (file >> name >> kib >> unit) {
        if (name == "MemAvailable:") return kib * 1024 - kHostReserve;
    }
    return {};
}

// "/a/b": the line "0::/a/b" of a process, empty where there is none.
std::string cgroup_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/cgroup");
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with("0::/")) return line.substr(3);
    }
    return {};
}

std::optional<std::int64_t> of_cgroups(pid_t pid) {
    std::optional<std::int64_t> least;
    std::string group = cgroup_of(pid);
    while (group.size() > 1) {
        const std::string folder = kCgroups + group;
        const auto limit = number_in(folder + "/memory.max");
        const auto used = number_in(folder + "/memory.current");
        if (limit && used) least = std::min(least.value_or(*limit - *used), *limit - *used);
        group.resize(group.rfind('/'));
    }
    return least;
}

}  // namespace

std::optional<std::int64_t> available_to(std::span<const pid_t> pids) {
    std::optional<std::int64_t> least = of_machine();
    if (!least) return {};
    for (const pid_t pid : pids) {
        if (const auto bound = of_cgroups(pid)) least = std::min(*least, *bound);
    }
    return least;
}

}  // namespace berth::vgpu::freezer
