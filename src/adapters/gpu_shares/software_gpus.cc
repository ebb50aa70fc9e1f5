// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/software_gpus.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

namespace berth::gpu_shares {
namespace {

constexpr std::size_t kGpusMax = 16;  // of the software driver, a node
constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
constexpr std::int64_t kContext = 400 * kMebibyte;

std::string uuid_of(std::size_t node, int gpu) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "GPU-5e1f0000-0000-4000-8000-%08zx%04x", node,
                  static_cast<unsigned>(gpu));
    return text.data();
}

std::string state_path(const std::string& directory, const std::string& node) {
    return "/dev/shm/" + std::filesystem::path(directory).filename().string() + "-" + node;
}

}  // namespace

void identify_software_gpus(std::vector<Gpu>& gpus) {
    std::map<std::string, std::size_t> numbers;
    for (Gpu& gpu : gpus) {
        const std::size_t number = numbers.emplace(gpu.node, numbers.size()).first->second;
        gpu.uuid = uuid_of(number, gpu.index);
        gpu.context = base::Bytes{kContext};
    }
}

std::string describe_software_gpus(const std::string& directory, const std::string& node,
                                   const std::vector<Gpu>& gpus) {
    std::vector<const Gpu*> here;
    for (const Gpu& gpu : gpus) {
        if (gpu.node == node) here.push_back(&gpu);
    }
    if (here.empty() || here.size() > kGpusMax) return {};
    std::error_code ignored;
    std::filesystem::create_directories(directory, ignored);
    std::string path = directory + "/" + node + ".gpus";
    std::ofstream file(path);
    file << "state = " << state_path(directory, node) << "\ngpus = " << here.size()
         << "\ndriver = 13.0\nreserved = 0MiB\ncontents = 256MiB\ncontext = 400MiB\nuuids = ";
    for (const Gpu* gpu : here) file << (gpu == here[0] ? "" : ", ") << gpu->uuid;
    const std::int64_t memory = here[0]->memory.value / (2 * kMebibyte) * 2;
    if (memory > 0) file << "\nmemory = " << memory << "MiB";
    file << '\n';
    return path;
}

void remove_software_gpus(const std::string& directory) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
        if (entry.path().extension() != ".gpus") continue;
        std::filesystem::remove(state_path(directory, entry.path().stem().string()), ignored);
        std::filesystem::remove(entry.path(), ignored);
    }
}

}  // namespace berth::gpu_shares
