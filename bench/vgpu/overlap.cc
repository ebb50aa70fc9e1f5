// SPDX-License-Identifier: Apache-2.0
//
// Steps of a training that communicates in one stream while it computes in another:
//   berth-bench-overlap SECONDS LAYERS KERNELS COMPUTE_US COMMUNICATE_US REST_US
// Each layer computes by KERNELS kernels on most of the GPU; its results are communicated by a
// kernel on a few of its multiprocessors, beside the layers that follow. A step ends when all is
// communicated, then the program does something else for REST_US. It begins at a line on standard
// input; how long a step took in the median, and how many there were, is a line of JSON.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "driver.h"
#include "spin.h"

using namespace berth::bench;

namespace {

constexpr unsigned int kComputeBlocks = 100;
constexpr unsigned int kCommunicateBlocks = 16;
constexpr double kWarmNs = 3e9;  // the arbiter measures what it does at first

// A stream, and an event of its last work.
struct Queue {
    CUstream stream = nullptr;
    CUevent last = nullptr;

    Queue() {
        must(look_up<decltype(cuStreamCreate)>("cuStreamCreate")(&stream, CU_STREAM_NON_BLOCKING),
             "stream");
        must(look_up<decltype(cuEventCreate)>("cuEventCreate")(&last, CU_EVENT_DISABLE_TIMING),
             "event");
    }
    void launch(CUfunction spin, unsigned int blocks, double us) const {
        static auto* const call = look_up<decltype(cuLaunchKernel)>("cuLaunchKernel");
        auto ns = static_cast<unsigned long long>(us * 1000);
        void* parameters[] = {&ns};
        must(call(spin, blocks, 1, 1, 64, 1, 1, 0, stream, parameters, nullptr), "launch");
    }
    void follow(const Queue& other) const {
        static auto* const record = look_up<decltype(cuEventRecord)>("cuEventRecord");
        static auto* const wait = look_up<decltype(cuStreamWaitEvent)>("cuStreamWaitEvent");
        must(record(other.last, other.stream), "record");
        must(wait(stream, other.last, 0), "order");
    }
    void synchronize() const {
        static auto* const call = look_up<decltype(cuStreamSynchronize)>("cuStreamSynchronize");
        must(call(stream), "synchronize");
    }
};

}  // namespace

int main(int count, char** words) {
    if (count != 7) return std::fputs("usage: see bench/vgpu/overlap.cc\n", stderr), 2;
    const double seconds = std::atof(words[1]);
    const int layers = std::atoi(words[2]);
    const int kernels = std::atoi(words[3]);
    const double compute_us = std::atof(words[4]);
    const double communicate_us = std::atof(words[5]);
    const double rest_us = std::atof(words[6]);
    use_first_gpu();
    const CUfunction spin = load_spin();
    const Queue computing;
    const Queue communicating;
    await_line();
    const double warm = now_ns() + kWarmNs;
    const double end = warm + seconds * 1e9;
    std::vector<double> steps_ms;
    while (now_ns() < end) {
        const double began = now_ns();
        for (int layer = 0; layer < layers; ++layer) {
            for (int kernel = 0; kernel < kernels; ++kernel)
                computing.launch(spin, kComputeBlocks, compute_us);
            communicating.follow(computing);
            communicating.launch(spin, kCommunicateBlocks, communicate_us);
        }
        computing.follow(communicating);
        computing.launch(spin, kComputeBlocks, compute_us);
        computing.synchronize();
        if (rest_us > 0) ::usleep(static_cast<useconds_t>(rest_us));
        if (began >= warm) steps_ms.push_back((now_ns() - began) / 1e6);
    }
    std::ranges::sort(steps_ms);
    std::printf("{\"step_ms\": %.4f, \"mean_ms\": %.4f, \"longest_ms\": %.4f, \"steps\": %zu}\n",
                steps_ms[steps_ms.size() / 2], seconds * 1e3 / static_cast<double>(steps_ms.size()),
                steps_ms.back(), steps_ms.size());
    return 0;
}
