// SPDX-License-Identifier: Apache-2.0
//
// A tenant of a GPU, by the driver API alone: the same program on a software driver and a real one.
//   calls ROUNDS                               empty kernels, allocations with a free, each past
//                                              the interposer and through it
//   steps SECONDS KERNELS KERNEL_US EPHEMERAL_MIB      the same of steps of a training
//   train SECONDS KERNELS KERNEL_US THINK_US EPHEMERAL_MIB    steps of kernels, then something else
//   alternate SECONDS KERNELS KERNEL_US        the same, every other two seconds; meanwhile on the
//                                              second GPU, where there is one
//   requests SECONDS KERNELS KERNEL_US EVERY_US               in those seconds and in the others
//   hold MIB                                   memory that is filled, and looked at again and again
//   families                                   memory of every kind, between lines of input
// `train`, `alternate` and `requests` begin at a line on standard input, when all are ready; what
// they found is a line of JSON.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "driver.h"
#include "spin.h"

using namespace berth::bench;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20U;
constexpr double kWarmNs = 3e9;
constexpr double kTurnNs = 2e9;  // of `alternate`, by the clock that all programs have in common
constexpr double kSettleNs = 0.3e9;  // after such a change

// Each a function of its own, so that a step has an order.
void launch(CUfunction function, double us) {
    static auto* const call = look_up<decltype(cuLaunchKernel)>("cuLaunchKernel");
    auto ns = static_cast<unsigned long long>(us * 1000);
    void* parameters[] = {&ns};
    must(call(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), "launch");
}

void wait_for_gpu() {
    static auto* const call = look_up<decltype(cuCtxSynchronize)>("cuCtxSynchronize");
    must(call(), "synchronize");
}

CUdeviceptr allocate(std::size_t bytes) {
    static auto* const call = look_up<decltype(cuMemAlloc_v2)>("cuMemAlloc");
    CUdeviceptr pointer = 0;
    must(call(&pointer, bytes), "allocation");
    return pointer;
}

void release(CUdeviceptr pointer) {
    static auto* const call = look_up<decltype(cuMemFree_v2)>("cuMemFree");
    must(call(pointer), "free");
}

// What the driver exports itself, past whatever is in front of it.
template <class Function>
Function* past_the_interposer(const char* exported) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        const std::size_t path = line.find('/');
        if (path == std::string::npos || line.find("/libcuda.so") == std::string::npos) continue;
        void* driver = ::dlopen(line.c_str() + path, RTLD_NOW | RTLD_NOLOAD);
        void* function = driver == nullptr ? nullptr : ::dlsym(driver, exported);
        if (function != nullptr) return reinterpret_cast<Function*>(function);
    }
    std::fprintf(stderr, "berth-bench: the driver exports no %s\n", exported);
    std::exit(1);
}

double median(std::vector<double> values) {
    std::ranges::nth_element(values,
                             values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    return values[values.size() / 2];
}

// One way and the other take turns within one process, a short piece each: what else happens on the
// machine meets both, and the median of their differences is left.
struct Compared {
    std::vector<double> direct = {};  // ns of a call
    std::vector<double> added = {};

    template <class Way, class Other>
    void measure(long calls, const Way& directly, const Other& hooked, bool directly_first) {
        const auto each = [&](const auto& way) {
            const double before = now_ns();
            for (long call = 0; call < calls; ++call) way();
            return (now_ns() - before) / static_cast<double>(calls);
        };
        double direct_ns = directly_first ? each(directly) : 0;
        const double hooked_ns = each(hooked);
        if (!directly_first) direct_ns = each(directly);
        direct.push_back(direct_ns);
        added.push_back(hooked_ns - direct_ns);
    }
    void print(const char* name, const char* end) const {
        std::printf("\"%s_ns\": %.1f, \"%s_added_ns\": %.1f%s", name, median(direct), name,
                    median(added), end);
    }
};

void calls(long rounds) {
    constexpr long kPiece = 128;  // twice that is less than the driver queues without waiting
    const CUfunction function = load_spin();
    unsigned long long ns = 0;
    void* parameters[] = {&ns};
    const auto launches = [&](decltype(&cuLaunchKernel) call) {
        return std::function([=, &parameters] {
            must(call(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), "launch");
        });
    };
    const auto pairs = [](decltype(&cuMemAlloc_v2) take, decltype(&cuMemFree_v2) give,
                          std::size_t bytes) {
        return std::function([=] {
            CUdeviceptr pointer = 0;
            must(take(&pointer, bytes), "allocation");
            must(give(pointer), "free");
        });
    };
    auto* const take = past_the_interposer<decltype(cuMemAlloc_v2)>("cuMemAlloc_v2");
    auto* const give = past_the_interposer<decltype(cuMemFree_v2)>("cuMemFree_v2");
    auto* const hooked_take = look_up<decltype(cuMemAlloc_v2)>("cuMemAlloc");
    auto* const hooked_give = look_up<decltype(cuMemFree_v2)>("cuMemFree");
    const auto direct = launches(past_the_interposer<decltype(cuLaunchKernel)>("cuLaunchKernel"));
    const auto hooked = launches(look_up<decltype(cuLaunchKernel)>("cuLaunchKernel"));
    Compared launch;
    Compared large;
    Compared small;
    allocate(3 * kMiB);  // as a program has: the last piece of a page is a rare one
    allocate(4096);
    for (long round = 0; round < rounds; ++round) {
        const bool directly_first = round % 2 == 0;
        launch.measure(kPiece, direct, hooked, directly_first);
        wait_for_gpu();
        const auto both = [&](Compared& compared, long count, std::size_t bytes) {
            compared.measure(count, pairs(take, give, bytes),
                             pairs(hooked_take, hooked_give, bytes), directly_first);
        };
        both(large, kPiece / 8, 3 * kMiB);
        both(small, kPiece, 4096);
    }
    std::printf("{");
    launch.print("launch", ", ");
    large.print("large", ", ");
    small.print("small", "}\n");
}

// Steps past the interposer and through it in turn: by how much is one longer? `ephemeral` is
// allocated and freed in each, as by a framework that does not cache.
void steps(double seconds, int kernels, double kernel_us, std::size_t ephemeral) {
    struct Driver {
        decltype(&cuLaunchKernel) launch;
        decltype(&cuMemAlloc_v2) take;
        decltype(&cuMemFree_v2) give;
        decltype(&cuCtxSynchronize) wait;
    };
    const Driver direct{past_the_interposer<decltype(cuLaunchKernel)>("cuLaunchKernel"),
                        past_the_interposer<decltype(cuMemAlloc_v2)>("cuMemAlloc_v2"),
                        past_the_interposer<decltype(cuMemFree_v2)>("cuMemFree_v2"),
                        past_the_interposer<decltype(cuCtxSynchronize)>("cuCtxSynchronize")};
    const Driver hooked{look_up<decltype(cuLaunchKernel)>("cuLaunchKernel"),
                        look_up<decltype(cuMemAlloc_v2)>("cuMemAlloc"),
                        look_up<decltype(cuMemFree_v2)>("cuMemFree"),
                        look_up<decltype(cuCtxSynchronize)>("cuCtxSynchronize")};
    const CUfunction functions[] = {load_spin(), load_spin(), load_spin()};
    const auto step = [&](const Driver& driver) {
        auto ns = static_cast<unsigned long long>(kernel_us * 1000);
        void* parameters[] = {&ns};
        CUdeviceptr pointer = 0;
        must(driver.take(&pointer, ephemeral * kMiB), "allocation");
        for (int index = 0; index < kernels; ++index)
            must(driver.launch(functions[index % 7 % 3], 1, 1, 1, 1, 1, 1, 0, nullptr, parameters,
                               nullptr),
                 "launch");
        must(driver.wait(), "synchronize");
        must(driver.give(pointer), "free");
    };
    Compared compared;
    const double end = now_ns() + seconds * 1e9;
    for (bool directly_first = true; now_ns() < end; directly_first = !directly_first) {
        compared.measure(1, [&] { step(direct); }, [&] { step(hooked); }, directly_first);
    }
    std::vector<double> losses;
    std::ranges::transform(compared.added, compared.direct, std::back_inserter(losses),
                           std::divides());
    std::printf("{\"step_ms\": %.3f, \"loss_percent\": %.4f, \"steps\": %zu}\n",
                median(compared.direct) / 1e6, 100 * median(losses), losses.size());
}

struct Work {
    double seconds = 0;
    int kernels = 0;
    double kernel_us = 0;
    double pause_us = 0;
};

void train(const Work& work, std::size_t ephemeral) {
    const CUfunction one = load_spin();
    const CUfunction other = load_spin();
    allocate(64 * kMiB);
    launch(one, 1);
    wait_for_gpu();
    await_line();
    const auto step = [&] {
        const CUdeviceptr activations = ephemeral > 0 ? allocate(ephemeral * kMiB) : 0;
        for (int index = 0; index + 1 < work.kernels; ++index)
            launch(index % 7 == 0 ? other : one, work.kernel_us);
        if (activations != 0) release(activations);
        launch(other, work.kernel_us);
        wait_for_gpu();
        if (work.pause_us > 0) ::usleep(static_cast<useconds_t>(work.pause_us));
    };
    // At first the arbiter measures what it does, gated.
    const double warm = now_ns() + kWarmNs;
    while (now_ns() < warm) step();
    const double began = now_ns();
    const double end = began + work.seconds * 1e9;
    long steps = 0;
    for (; now_ns() < end; ++steps) step();
    const double seconds = (now_ns() - began) / 1e9;
    std::printf("{\"steps_per_s\": %.4f, \"device_part\": %.5f}\n",
                static_cast<double>(steps) / seconds,
                static_cast<double>(steps) * work.kernels * work.kernel_us / 1e6 / seconds);
}

// Whether `alternate` is on the first GPU, and how long it has been as it is.
struct Turn {
    bool is_beside = false;
    double since_ns = 0;
};

Turn turn_at(double ns) {
    const auto turns = static_cast<long long>(ns / kTurnNs);
    return {turns % 2 == 1, ns - static_cast<double>(turns) * kTurnNs};
}

void alternate(const Work& work) {
    static auto* const set_current = look_up<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent");
    int gpus = 0;
    must(look_up<decltype(cuDeviceGetCount)>("cuDeviceGetCount")(&gpus), "count");
    CUcontext contexts[2] = {};
    CUfunction spins[2] = {};
    gpus = std::min(gpus, 2);
    for (int gpu = gpus - 1; gpu >= 0; --gpu) {
        must(look_up<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain")(&contexts[gpu],
                                                                                     gpu),
             "context");
        must(set_current(contexts[gpu]), "context");
        spins[gpu] = load_spin();
        launch(spins[gpu], 1);
        wait_for_gpu();
    }
    await_line();
    const double end = now_ns() + kWarmNs + work.seconds * 1e9;
    while (now_ns() < end) {
        const int gpu = turn_at(now_ns()).is_beside ? 0 : 1;
        if (gpu >= gpus) {
            ::usleep(1000);
            continue;
        }
        must(set_current(contexts[gpu]), "context");
        for (int index = 0; index < work.kernels; ++index) launch(spins[gpu], work.kernel_us);
        wait_for_gpu();
    }
    std::puts("{}");
}

struct Times {
    std::vector<double> ms;
    double percentile(std::size_t part) {
        std::ranges::sort(ms);
        return ms.empty() ? 0 : ms[ms.size() * part / 100];
    }
};

void requests(const Work& work) {
    const CUfunction spin = load_spin();
    launch(spin, 1);
    wait_for_gpu();
    await_line();
    Times alone;
    Times beside;
    const double warm = now_ns() + kWarmNs;
    const double end = warm + work.seconds * 1e9;
    while (now_ns() < end) {
        const double before = now_ns();
        for (int index = 0; index < work.kernels; ++index) launch(spin, work.kernel_us);
        wait_for_gpu();
        const double ms = (now_ns() - before) / 1e6;
        const Turn turn = turn_at(before);
        const bool is_within = turn.since_ns >= kSettleNs && turn.since_ns + ms * 1e6 < kTurnNs;
        if (before >= warm && is_within) (turn.is_beside ? beside : alone).ms.push_back(ms);
        const double rest = work.pause_us - ms * 1000;
        if (rest > 0) ::usleep(static_cast<useconds_t>(rest));
    }
    std::printf(
        "{\"requests\": %zu, \"alone_p50_ms\": %.4f, \"alone_p99_ms\": %.4f, "
        "\"p50_ms\": %.4f, \"p99_ms\": %.4f}\n",
        std::min(alone.ms.size(), beside.ms.size()), alone.percentile(50), alone.percentile(99),
        beside.percentile(50), beside.percentile(99));
}

// Ends with 3 when a word is not what it was. A job that is paused says nothing meanwhile.
void hold(std::size_t mib) {
    constexpr std::size_t kChunk = 64;  // MiB; the first word of each is looked at
    static auto* const fill = look_up<decltype(cuMemsetD32_v2)>("cuMemsetD32");
    static auto* const copy = look_up<decltype(cuMemcpyDtoH_v2)>("cuMemcpyDtoH");
    std::vector<CUdeviceptr> chunks;
    for (std::size_t at = 0; at < mib; at += kChunk) {
        const std::size_t bytes = std::min(kChunk, mib - at) * kMiB;
        chunks.push_back(allocate(bytes));
        must(fill(chunks.back(), static_cast<unsigned int>(at + 1), bytes / 4), "fill");
    }
    // Memory of a software GPU past what has contents reads as zeros.
    std::vector<unsigned int> wanted(chunks.size());
    std::size_t zeros = 0;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        must(copy(&wanted[i], chunks[i], 4), "copy");
        zeros += wanted[i] == 0 ? 1 : 0;
        if (wanted[i] != 0 && wanted[i] != i * kChunk + 1) std::exit(3);
    }
    std::printf("zeros %zu\n", zeros);
    for (long round = 1;; ++round) {
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            unsigned int word = 0;
            must(copy(&word, chunks[i], 4), "copy");
            if (word != wanted[i]) std::exit(3);
        }
        std::printf("seen %ld %.0f\n", round, now_ns() / 1e6);
        std::fflush(stdout);
        ::usleep(5000);
    }
}

void families() {
    await_line();
    for (int index = 0; index < 1000; ++index) allocate(4096);
    for (int index = 0; index < 200; ++index) allocate(3 * kMiB);
    allocate(2048 * kMiB);
    CUdeviceptr pointer = 0;
    std::size_t pitch = 0;
    must(
        look_up<decltype(cuMemAllocPitch_v2)>("cuMemAllocPitch")(&pointer, &pitch, 1000, 20'000, 4),
        "pitched");
    must(look_up<decltype(cuMemAllocAsync)>("cuMemAllocAsync")(&pointer, 512 * kMiB, nullptr),
         "pool");
    wait_for_gpu();
    CUmemAllocationProp place{};
    place.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    place.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemGenericAllocationHandle handle = 0;
    must(look_up<decltype(cuMemCreate)>("cuMemCreate")(&handle, 1024 * kMiB, &place, 0), "handle");
    CUDA_ARRAY3D_DESCRIPTOR shape{};
    shape.Width = shape.Height = 4096;
    shape.Format = CU_AD_FORMAT_FLOAT;
    shape.NumChannels = 1;
    CUarray array = nullptr;
    must(look_up<decltype(cuArray3DCreate_v2)>("cuArray3DCreate")(&array, &shape), "array");
    for (int index = 0; index < 32; ++index) load_spin();
    await_line();
}

double number(char** words, int at) { return std::atof(words[at]); }

}  // namespace

int main(int count, char** words) {
    const std::string what = count > 1 ? words[1] : "";
    const auto is = [&](const char* name, int arguments) {
        return what == name && count == 2 + arguments;
    };
    const bool is_known = is("calls", 1) || is("steps", 4) || is("train", 5) ||
                          is("alternate", 3) || is("requests", 4) || is("hold", 1) ||
                          is("families", 0);
    if (!is_known) return std::fputs("usage: see bench/vgpu/tenant.cc\n", stderr), 2;
    use_first_gpu();
    if (what == "calls") calls(std::atol(words[2]));
    if (what == "steps")
        steps(number(words, 2), std::atoi(words[3]), number(words, 4),
              static_cast<std::size_t>(std::atol(words[5])));
    if (what == "hold") hold(static_cast<std::size_t>(std::atol(words[2])));
    if (what == "families") families();
    if (what != "train" && what != "requests" && what != "alternate") return 0;
    const Work work{number(words, 2), std::atoi(words[3]), number(words, 4),
                    what == "alternate" ? 0 : number(words, 5)};
    if (what == "alternate") alternate(work);
    if (what == "requests") requests(work);
    if (what == "train") train(work, static_cast<std::size_t>(std::atol(words[6])));
    return 0;
}
