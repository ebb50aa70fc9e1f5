// SPDX-License-Identifier: Apache-2.0
//
// A process with several streams on a GPU, each of them kept at work by a thread of its own:
//   berth-bench-streams SECONDS BLOCKS KERNEL_US...     a stream for each length of its kernels
// It begins at a line on standard input, when all are ready. What each stream got done is a line of
// JSON: its kernels, and how much of the time they take alone.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "driver.h"
#include "spin.h"

using namespace berth::bench;

namespace {

constexpr int kAhead = 4;  // kernels launched before one is waited for

struct Queue {
    double kernel_us = 0;
    long done = 0;
};

void keep_at_work(Queue& queue, CUcontext context, CUfunction spin, unsigned int blocks,
                  double end) {
    auto* const launch = look_up<decltype(cuLaunchKernel)>("cuLaunchKernel");
    auto* const record = look_up<decltype(cuEventRecord)>("cuEventRecord");
    auto* const wait = look_up<decltype(cuEventSynchronize)>("cuEventSynchronize");
    must(look_up<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent")(context), "context");
    CUstream stream = nullptr;
    must(look_up<decltype(cuStreamCreate)>("cuStreamCreate")(&stream, CU_STREAM_NON_BLOCKING),
         "stream");
    CUevent events[kAhead] = {};
    for (CUevent& event : events)
        must(look_up<decltype(cuEventCreate)>("cuEventCreate")(&event, CU_EVENT_DISABLE_TIMING),
             "event");
    auto ns = static_cast<unsigned long long>(queue.kernel_us * 1000);
    void* parameters[] = {&ns};
    for (long launched = 0; now_ns() < end; ++launched) {
        const CUevent event = events[launched % kAhead];
        if (launched >= kAhead) {
            must(wait(event), "wait");
            if (now_ns() < end) ++queue.done;
        }
        must(launch(spin, blocks, 1, 1, 64, 1, 1, 0, stream, parameters, nullptr), "launch");
        must(record(event, stream), "record");
    }
}

}  // namespace

int main(int count, char** words) {
    if (count < 4) return std::fputs("usage: see bench/vgpu/streams.cc\n", stderr), 2;
    const double seconds = std::atof(words[1]);
    const auto blocks = static_cast<unsigned int>(std::atol(words[2]));
    std::vector<Queue> queues;
    for (int at = 3; at < count; ++at) queues.push_back({std::atof(words[at])});
    use_first_gpu();
    const CUfunction spin = load_spin();
    CUcontext context = nullptr;
    must(look_up<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent")(&context), "context");
    await_line();
    const double end = now_ns() + seconds * 1e9;
    std::vector<std::thread> threads;
    for (Queue& queue : queues)
        threads.emplace_back([&] { keep_at_work(queue, context, spin, blocks, end); });
    for (std::thread& thread : threads) thread.join();
    std::printf("{\"kernels\": [");
    for (const Queue& queue : queues)
        std::printf("%s%ld", &queue == queues.data() ? "" : ", ", queue.done);
    std::printf("], \"parts\": [");
    for (const Queue& queue : queues)
        std::printf("%s%.5f", &queue == queues.data() ? "" : ", ",
                    static_cast<double>(queue.done) * queue.kernel_us / 1e6 / seconds);
    std::puts("]}");
    std::fflush(stdout);
    std::_Exit(0);  // what is still launched may take seconds
}
