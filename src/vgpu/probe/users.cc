// SPDX-License-Identifier: Apache-2.0
#include "vgpu/probe/users.h"

#include <poll.h>
#include <unistd.h>

#include <cstdio>

#include "vgpu/arbiter/gpus/gpu_memory.h"

namespace berth::vgpu::probe {
namespace {

constexpr int kEveryMs = 1000;

}  // namespace

void tell_users(const std::string& nvml, const std::vector<std::string>& gpus) {
    const arbiter::GpuMemory memory(nvml);
    pollfd input = {STDIN_FILENO, POLLIN, 0};
    do {
        std::string text;
        for (const std::string& gpu : gpus) {
            const auto holders = memory.holders(gpu);
            if (!holders) continue;
            for (const auto& [pid, bytes] : *holders)
                text += gpu + " " + std::to_string(pid) + " " + std::to_string(bytes) + "\n";
        }
        text += "end\n";
        std::fputs(text.c_str(), stdout);
        if (std::fflush(stdout) != 0) return;
    } while (::poll(&input, 1, kEveryMs) == 0);
}

}  // namespace berth::vgpu::probe
