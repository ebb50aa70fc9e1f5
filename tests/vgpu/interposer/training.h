// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <functional>

#include "vgpu/interposer/kernels.h"

namespace vgpu {

// What trainings of several processes do, as they know it themselves.
struct Meter {
    std::atomic<std::uint64_t> held;     // bytes
    std::atomic<std::uint64_t> highest;  // ... ever
    std::atomic<int> inside;             // trainings within a step
    std::atomic<int> most_inside;
    std::atomic<int> steps[8];
    std::atomic<std::int64_t> took;  // ns, of the last one's steps after its first ten
    std::atomic<std::int64_t> starved;  // ns of them without a processor
    std::atomic<int> ready;

    static Meter& make() {
        void* at = ::mmap(nullptr, sizeof(Meter), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        MUST(at != MAP_FAILED);
        return *static_cast<Meter*>(at);
    }
    void hold(std::uint64_t bytes) { raise(highest, held += bytes); }
    void enter() { raise(most_inside, ++inside); }

  private:
    template <class T>
    static void raise(std::atomic<T>& high, T value) {
        T seen = high;
        while (seen < value && !high.compare_exchange_weak(seen, value)) {
        }
    }
};

// One step of training as a driver sees it: memory for a while, kernels, a wait, something else.
struct Step {
    int kernels = 40;
    std::uint64_t kernel_ns = 100'000;
    std::uint64_t persistent = 100 * kMiB;
    std::uint64_t ephemeral = 50 * kMiB;
    long think_ms = 4;
    bool polls = false;  // asks whether its work is done, instead of waiting
    std::function<void()> think = {};  // instead of think_ms
};

class Training {
  public:
    Training(const Cuda& driver, const Step& step, Meter& meter = Meter::make(), int number = 0)
        : cuda(driver),
          step_(step),
          meter_(meter),
          number_(number),
          spin_(load_spin(cuda)),
          other_(load_spin(cuda)) {
        CUdeviceptr weights = 0;
        MUST(CUDA(cuMemAlloc_v2)(&weights, step.persistent) == CUDA_SUCCESS);
        meter_.hold(kContext + step.persistent);
    }
    ~Training() { meter_.held -= kContext + step_.persistent; }
    Training(const Training&) = delete;
    Training& operator=(const Training&) = delete;
    void run(int steps) {
        std::int64_t began = 0;
        std::int64_t starved = 0;
        for (int index = 0; index < steps; ++index) {
            if (index == 10) {
                began = now_ns();
                starved = starved_ns(::getpid());
            }
            run_one();
        }
        meter_.took = now_ns() - began;
        meter_.starved = starved_ns(::getpid()) - starved;
    }
    void launch(CUfunction function, std::uint64_t ns) {
        void* parameters[] = {&ns};
        MUST(CUDA(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr) ==
             CUDA_SUCCESS);
    }

  private:
    void run_one() {
        CUdeviceptr activations = 0;
        MUST(CUDA(cuMemAlloc_v2)(&activations, step_.ephemeral) == CUDA_SUCCESS);
        meter_.hold(step_.ephemeral);
        for (int index = 0; index < step_.kernels; ++index) {
            launch(index % 7 == 0 ? other_ : spin_, step_.kernel_ns);
            if (index == 0) meter_.enter();
        }
        meter_.held -= step_.ephemeral;
        MUST(CUDA(cuMemFree_v2)(activations) == CUDA_SUCCESS);
        --meter_.inside;
        launch(other_, step_.kernel_ns);
        if (step_.polls) {
            CUresult state = CUDA_ERROR_NOT_READY;
            while (state == CUDA_ERROR_NOT_READY) state = CUDA(cuStreamQuery)(nullptr);
            MUST(state == CUDA_SUCCESS);
        } else {
            MUST(CUDA(cuCtxSynchronize)() == CUDA_SUCCESS);
        }
        ++meter_.steps[number_];
        if (step_.think) return step_.think();
        pause_ms(step_.think_ms);
    }

    const Cuda& cuda;
    Step step_;
    Meter& meter_;
    int number_;
    CUfunction spin_;
    CUfunction other_;
};

}  // namespace vgpu
