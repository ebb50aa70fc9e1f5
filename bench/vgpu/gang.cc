// SPDX-License-Identifier: Apache-2.0
//
// Steps of a training on several GPUs that ends each of them together:
//   berth-bench-gang SECONDS GPUS KERNELS KERNEL_US
// A thread for each GPU launches KERNELS kernels that take all of it, waits for them and then for
// the other threads. It begins at a line on standard input; steps a second are a line of JSON.
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "driver.h"
#include "spin.h"

using namespace berth::bench;

namespace {

constexpr double kWarmNs = 3e9;  // the arbiter measures what it does at first

void use_gpu(int gpu) {
    CUcontext context = nullptr;
    must(look_up<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain")(&context, gpu),
         "context");
    must(look_up<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent")(context), "context");
}

}  // namespace

int main(int count, char** words) {
    if (count != 5) return std::fputs("usage: see bench/vgpu/gang.cc\n", stderr), 2;
    const double seconds = std::atof(words[1]);
    const int gpus = std::atoi(words[2]);
    const int kernels = std::atoi(words[3]);
    auto ns = static_cast<unsigned long long>(std::atof(words[4]) * 1000);
    must(look_up<decltype(cuInit)>("cuInit")(0), "init");
    auto* const launch = look_up<decltype(cuLaunchKernel)>("cuLaunchKernel");
    auto* const wait = look_up<decltype(cuCtxSynchronize)>("cuCtxSynchronize");
    double warm = 0;
    double measured = 0;
    long steps = 0;
    bool is_over = false;
    std::barrier begin(gpus + 1);
    std::barrier step(gpus, [&]() noexcept {
        const double now = now_ns();
        if (now < warm) return;
        measured = now - warm;
        ++steps;
        is_over = measured >= seconds * 1e9;
    });
    const auto work = [&](int gpu) {
        use_gpu(gpu);
        const CUfunction spin = load_spin();
        begin.arrive_and_wait();
        begin.arrive_and_wait();
        while (!is_over) {
            void* parameters[] = {&ns};
            for (int kernel = 0; kernel < kernels; ++kernel)
                must(launch(spin, 1024, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr), "launch");
            must(wait(), "synchronize");
            step.arrive_and_wait();
        }
    };
    std::vector<std::thread> threads;
    for (int gpu = 0; gpu < gpus; ++gpu) threads.emplace_back(work, gpu);
    begin.arrive_and_wait();
    await_line();
    warm = now_ns() + kWarmNs;
    begin.arrive_and_wait();
    for (std::thread& thread : threads) thread.join();
    std::printf("{\"steps_per_s\": %.4f}\n", static_cast<double>(steps) * 1e9 / measured);
    return 0;
}
