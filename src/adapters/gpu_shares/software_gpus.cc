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

}  // namespace

std::string description_path(const std::string& directory, const std::string& node) {
    return directory + "/" + node + ".gpus";
}

void describe_software_gpus(const std::string& directory, std::vector<Gpu>& gpus) {
    std::error_code ignored;
    std::filesystem::create_directories(directory, ignored);
    std::map<std::string, std::vector<const Gpu*>> nodes;
    for (Gpu& gpu : gpus) {
        const std::size_t number = nodes.contains(gpu.node) ? nodes.size() - 1 : nodes.size();
        gpu.uuid = uuid_of(number, gpu.index);
        gpu.context = base::Bytes{kContext};
        nodes[gpu.node].push_back(&gpu);
    }
    const std::string name = std::filesystem::path(directory).filename().string();
    for (const auto& [node, its_gpus] : nodes) {
        if (its_gpus.size() > kGpusMax) continue;
        std::ofstream file(description_path(directory, node));
        file << "state = /dev/shm/" << name << '-' << node << "\ngpus = " << its_gpus.size()
             << "\nreserved = 0MiB\ncontents = 256MiB\ncontext = 400MiB\nuuids = ";
        for (const Gpu* gpu : its_gpus) file << (gpu == its_gpus[0] ? "" : ", ") << gpu->uuid;
        const std::int64_t memory = its_gpus[0]->memory.value / (2 * kMebibyte) * 2;
        if (memory > 0) file << "\nmemory = " << memory << "MiB";
        file << '\n';
    }
}

}  // namespace berth::gpu_shares
