// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/terms/software_gpus.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "runtime/drawn_folder.h"

namespace berth::gpu_shares {
namespace {

constexpr std::size_t kGpusMax = 16;  // of the software driver, a node
constexpr std::int64_t kSoftwareMebibyte = std::int64_t{1} << 20;

std::string uuid_of(std::size_t node, int gpu) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "GPU-5e1f0000-0000-4000-8000-%08zx%04x", node,
                  static_cast<unsigned>(gpu));
    return text.data();
}

// What is in their memory lies where memory does, or else on the disk.
const runtime::DrawnFolder kMemory{"/dev/shm", "memory"};
constexpr std::uintmax_t kMemoryLeast = 8U << 20U;

// Any user can fill the one; what is on the other already, of jobs that run, stays there.
std::string folder_of_memory(const runtime::Folder& folder, const std::string& node) {
    std::error_code error;
    if (std::filesystem::exists(folder.path() + '/' + node, error)) return folder.path();
    const auto drawn = runtime::open_drawn(folder, kMemory);
    if (!drawn) return folder.path();
    const bool has_room = std::filesystem::space(*drawn, error).available >= kMemoryLeast;
    return has_room || std::filesystem::exists(*drawn + '/' + node, error) ? *drawn : folder.path();
}

}  // namespace

void identify_software_gpus(std::vector<Gpu>& gpus) {
    std::map<std::string, std::size_t> numbers;
    for (Gpu& gpu : gpus) {
        const std::size_t number = numbers.emplace(gpu.node, numbers.size()).first->second;
        gpu.uuid = uuid_of(number, gpu.index);
    }
}

std::string describe_software_gpus(const std::string& directory, const std::string& node,
                                   const std::vector<Gpu>& gpus) {
    std::vector<const Gpu*> here;
    for (const Gpu& gpu : gpus) {
        if (gpu.node == node) here.push_back(&gpu);
    }
    if (here.empty() || here.size() > kGpusMax) return {};
    const auto folder = runtime::Folder::make(directory, runtime::Openness::Passable);
    if (!folder) return {};
    const std::string memory = folder_of_memory(*folder, node);
    std::string path = directory + "/" + node + ".gpus";
    std::ostringstream text;
    text << "state = " << memory << '/' << node << "\ngpus = " << here.size()
         << "\ndriver = 13.0\nreserved = 0MiB\ncontents = 256MiB\ncontext = 400MiB\nuuids = ";
    for (const Gpu* gpu : here) text << (gpu == here[0] ? "" : ", ") << gpu->uuid;
    const std::int64_t mebibytes = here[0]->memory.value / (2 * kSoftwareMebibyte) * 2;
    if (mebibytes > 0) text << "\nmemory = " << mebibytes << "MiB";
    text << '\n';
    // Whole, or as it was: jobs read it.
    std::ofstream file(path + ".new");
    file << text.str();
    file.close();
    if (!file || ::rename((path + ".new").c_str(), path.c_str()) != 0) return {};
    return path;
}

void remove_software_gpus(const std::string& directory) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(directory, ignored)) return;
    if (const auto folder = runtime::Folder::make(directory, runtime::Openness::Passable))
        runtime::remove_drawn(*folder, kMemory);
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
        if (entry.path().extension() != ".gpus") continue;
        std::filesystem::remove(directory + '/' + entry.path().stem().string(), ignored);
        std::filesystem::remove(entry.path(), ignored);
    }
}

}  // namespace berth::gpu_shares
