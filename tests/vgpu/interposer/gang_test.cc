// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

#include "vgpu/interposer/job.h"
#include "vgpu/interposer/kernels.h"

using namespace vgpu;

namespace {

constexpr int kGpus = 2;
constexpr std::uint64_t kKernelNs = 200'000;  // one on each GPU is a step
constexpr std::int64_t kMeasuredNs = 3'000'000'000;

// What all processes did.
struct Steps {
    std::atomic<int> ready;
    std::atomic<int> done;
    std::atomic<std::int64_t> starved;  // ns
};

Steps& shared_steps() {
    static void* at =
        ::mmap(nullptr, sizeof(Steps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    auto& steps = *static_cast<Steps*>(at);
    steps.ready = steps.done = 0;
    steps.starved = 0;
    return steps;
}

// A thread for each GPU: they compute, and none begins the next step before all have ended this
// one.
void train(Steps& steps, int processes) {
    const Cuda cuda;
    std::atomic<bool> is_over = false;
    std::barrier all(kGpus);
    std::barrier one_ends(kGpus, [&]() noexcept { ++steps.done; });
    std::int64_t end = 0;
    const auto keep_at_work = [&](int gpu) {
        cuda.use_device(gpu);
        const CUfunction spin = load_spin(cuda);
        auto* const launch = CUDA(cuLaunchKernel);
        auto* const wait = CUDA(cuCtxSynchronize);
        if (gpu == 0) {
            ++steps.ready;
            MUST(eventually([&] { return steps.ready == processes; }));
            end = now_ns() + kMeasuredNs;
        }
        all.arrive_and_wait();
        while (!is_over) {
            std::uint64_t length = kKernelNs;
            void* parameters[] = {&length};
            MUST(launch(spin, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) == CUDA_SUCCESS);
            MUST(wait() == CUDA_SUCCESS);
            one_ends.arrive_and_wait();
            if (now_ns() >= end) is_over = true;
            all.arrive_and_wait();
        }
    };
    std::vector<std::thread> threads;
    for (int gpu = 1; gpu < kGpus; ++gpu) threads.emplace_back(keep_at_work, gpu);
    keep_at_work(0);
    for (std::thread& thread : threads) thread.join();
    steps.starved += starved_ns(::getpid());
}

struct Trained {
    int steps = 0;
    bool is_busy = false;  // the machine, with other things
};

// `gangs` jobs with a half of both GPUs each.
Trained train_beside(int gangs) {
    const GpuNode node("");
    Steps& steps = shared_steps();
    std::vector<pid_t> children;
    for (int gang = 0; gang < gangs; ++gang) {
        const std::string name = "gang-" + std::to_string(gang);
        node.order("tenant " + name + " gpus=" + GpuNode::uuid(0) + "," + GpuNode::uuid(1) +
                   " share=0.5");
        children.push_back(start([&, name] {
            node.be(name);
            train(steps, gangs);
            return 0;
        }));
    }
    for (const pid_t child : children) succeeds(end_of(child));
    const std::int64_t starved = steps.starved + starved_ns(node.arbiter());
    return {steps.done, is_too_busy(starved, kMeasuredNs)};
}

}  // namespace

TEST_CASE("two gangs with a barrier between their GPUs do together what one does alone") {
    double best = 0;
    bool was_quiet = false;
    for (int tries = 0; tries < 3 && best < 0.7; ++tries) {
        const Trained alone = train_beside(1);
        const Trained beside = train_beside(2);
        best = std::max(best, static_cast<double>(beside.steps) / alone.steps);
        const bool is_busy = alone.is_busy || beside.is_busy;
        was_quiet = was_quiet || !is_busy;
        MESSAGE(beside.steps, " steps of two, ", alone.steps, " of one alone; busy: ", is_busy);
    }
    CHECK((best >= 0.7 || !was_quiet));
}
