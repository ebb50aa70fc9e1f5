// SPDX-License-Identifier: Apache-2.0
#include "vgpu/device/control_group.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

#include "vgpu/device/configuration.h"

namespace berth::vgpu::device {
namespace {

namespace fs = std::filesystem;

std::int32_t parent_of(std::int32_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    for (std::string word; file >> word;) {
        std::int32_t parent = 0;
        if (word == "PPid:" && file >> parent) return parent;
    }
    return 0;
}

bool lists(const fs::path& procs, std::int32_t pid) {
    std::ifstream file(procs);
    for (std::int32_t listed = 0; file >> listed;) {
        if (listed == pid) return true;
    }
    return false;
}

}  // namespace

std::string control_group_of(const std::string& root, std::int32_t pid) {
    if (root.empty()) return {};
    std::vector<fs::path> groups;
    std::error_code none;
    for (const auto& entry : fs::recursive_directory_iterator(root, none)) {
        if (entry.path().filename() == "cgroup.procs") groups.push_back(entry.path());
    }
    for (; pid > 1; pid = parent_of(pid)) {
        const auto found =
            std::ranges::find_if(groups, [&](const fs::path& procs) { return lists(procs, pid); });
        if (found != groups.end()) return found->parent_path().string();
    }
    return {};
}

std::uint64_t control_group_id(const std::string& group) {
    return group.empty() ? 0 : std::hash<std::string>{}(group) | 1U;
}

std::uint64_t memory_limit(const std::string& group, std::uint32_t gpu) {
    if (group.empty()) return kNoLimit;
    const std::string region = "nvidia/" + pci_bus_id(gpu).substr(4) + "/vidmem";
    std::ifstream file(group + "/dmem.max");
    std::string name;
    std::string limit;
    while (file >> name >> limit) {
        if (name != region) continue;
        return limit == "max" ? kNoLimit : std::stoull(limit);
    }
    return kNoLimit;
}

}  // namespace berth::vgpu::device
