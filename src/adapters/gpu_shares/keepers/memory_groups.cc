// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/keepers/memory_groups.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace berth::gpu_shares {
namespace {

namespace fs = std::filesystem;

std::string read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

// All in one write: the kernel takes each write for itself.
bool write(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text << std::flush;
    return file.good();
}

bool has_word(const std::string& text, const std::string& word) {
    std::istringstream words(text);
    for (std::string one; words >> one;) {
        if (one == word) return true;
    }
    return false;
}

std::string region_of(const std::string& pci_address) {
    return "nvidia/" + pci_address + "/vidmem";
}

// Whether the group is gone. Where other folders stand in for the kernel's, files are in them.
bool remove_group(const std::string& folder) {
    if (::rmdir(folder.c_str()) == 0 || errno == ENOENT) return true;
    if (errno != ENOTEMPTY) return false;
    std::error_code failed;
    fs::remove_all(folder, failed);
    return !failed;
}

}  // namespace

MemoryGroups::MemoryGroups(std::string root, const std::string& cluster)
    : root_(std::move(root)), own_(root_ + "/berth-" + cluster) {}

// Only the uppermost group has the file.
std::string MemoryGroups::capacities() const {
    for (fs::path folder = root_; folder.has_relative_path(); folder = folder.parent_path()) {
        if (fs::exists(folder / "dmem.capacity")) return read(folder / "dmem.capacity");
    }
    return {};
}

std::string MemoryGroups::problem(const std::vector<Gpu>& gpus) {
    if (!has_word(read(root_ + "/cgroup.controllers"), "dmem")) {
        return root_ + " has no dmem controller; Linux has one from 6.14 on";
    }
    const std::string known = capacities();
    for (const Gpu& gpu : gpus) {
        if (!gpu.visible_as.starts_with("MIG-") && !has_word(known, region_of(gpu.pci_address))) {
            return "dmem.capacity does not list " + region_of(gpu.pci_address);
        }
    }
    std::error_code failed;
    fs::create_directories(own_, failed);
    if (failed) {
        return "cannot make " + own_ + ": " + failed.message() +
               "; run as root, or name a folder of yours with --cgroup";
    }
    for (const std::string& folder : {root_, own_}) {
        const std::string file = folder + "/cgroup.subtree_control";
        if (has_word(read(file), "dmem") || write(file, "+dmem")) continue;
        return "cannot write " + file + "; run as root, or name a folder of yours with --cgroup";
    }
    return {};
}

base::Status MemoryGroups::add(const Tenant& tenant) {
    const std::string folder = folder_of(tenant);
    std::error_code failed;
    fs::create_directories(folder, failed);
    // The kernel made it with the folder; a test's folder does not have it yet.
    std::ofstream(folder + "/cgroup.procs", std::ios::app);
    std::string limits;
    for (const MemoryLimit& limit : tenant.limits) {
        if (limit.bytes.value < 0) continue;
        limits += region_of(limit.pci_address) + " " + std::to_string(limit.bytes.value) + "\n";
    }
    for (const char* file : {"/dmem.max", "/dmem.min"}) {
        if (limits.empty() || write(folder + file, limits)) continue;
        return base::fail(base::ErrorCode::Unavailable, "cannot write " + folder + file);
    }
    return {};
}

void MemoryGroups::drop(const std::string& prefix) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(own_, none)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(prefix + ".")) leaving_.push_back(entry.path().string());
    }
    std::erase_if(leaving_, remove_group);
}

std::vector<std::string> MemoryGroups::tenants() const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(own_, none)) {
        if (entry.is_directory()) names.push_back(entry.path().filename().string());
    }
    return names;
}

void MemoryGroups::remove() {
    if (tenants().empty()) remove_group(own_);
}

std::string MemoryGroups::folder_of(const Tenant& tenant) const { return own_ + "/" + tenant.name; }

}  // namespace berth::gpu_shares
