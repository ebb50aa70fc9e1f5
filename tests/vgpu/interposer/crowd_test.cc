// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <random>
#include <vector>

#include "vgpu/interposer/job.h"

using namespace vgpu;

namespace {

constexpr std::size_t kProcesses = 64;
constexpr std::uint64_t kLimit = 6144 * kMiB;  // two thirds of it are contexts

// What all processes saw.
struct Seen {
    std::atomic<std::uint64_t> highest;  // in use on the GPU, by its own account
    std::atomic<std::uint64_t> granted;
    std::atomic<std::uint64_t> refused;
};

Seen& shared_seen() {
    static void* at =
        ::mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    return *static_cast<Seen*>(at);
}

// Allocates and frees until it is killed.
void live(Seen& seen, std::uint64_t seed) {
    ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);  // it is refused all the time
    const Cuda cuda;
    CUcontext context = nullptr;
    MUST(CUDA(cuInit)(0) == CUDA_SUCCESS);
    // What the dead had may not be free yet.
    auto* const retain = CUDA(cuDevicePrimaryCtxRetain);
    MUST(eventually([&] { return retain(&context, 0) == CUDA_SUCCESS; }));
    MUST(CUDA(cuCtxSetCurrent)(context) == CUDA_SUCCESS);
    auto* const allocate = CUDA(cuMemAlloc_v2);
    auto* const free = CUDA(cuMemFree_v2);
    std::mt19937_64 dice(seed);
    std::vector<CUdeviceptr> blocks;
    while (true) {
        if (dice() % 3 == 0 && !blocks.empty()) {
            MUST(free(blocks.back()) == CUDA_SUCCESS);
            blocks.pop_back();
            continue;
        }
        CUdeviceptr block = 0;
        const bool has_it = allocate(&block, (1 + dice() % 120) * kMiB) == CUDA_SUCCESS;
        if (has_it) blocks.push_back(block);
        ++(has_it ? seen.granted : seen.refused);
        // The GPU adds up under its lock: what all have at one instant.
        berth::vgpu::ledger::raise(seen.highest, cuda.really_used());
    }
}

// Whether it was still at it.
bool kill_one(pid_t child) {
    ::kill(child, SIGKILL);
    return end_of(child) == 128 + SIGKILL;
}

}  // namespace

TEST_CASE("64 processes, killed at any instant, never hold more of the GPU than their limit") {
    const GpuNode node("memory=6G", {"--free-after", "20ms"}, "memory=16GiB");
    Seen& seen = shared_seen();
    std::uint64_t seed = 0;
    const auto begin = [&] {
        ++seed;
        return start([&] { return live(seen, seed), 0; });
    };
    std::vector<pid_t> children;
    while (children.size() < kProcesses) children.push_back(begin());
    std::mt19937_64 dice(9);
    int gave_up = 0;
    for (int kill = 0; kill < 1000; ++kill) {
        pid_t& child = children[dice() % kProcesses];
        gave_up += kill_one(child) ? 0 : 1;
        child = begin();
        pause_ms(2);
    }
    for (const pid_t child : children) gave_up += kill_one(child) ? 0 : 1;
    MESSAGE("granted ", seen.granted.load(), ", refused ", seen.refused.load(), ", at most ",
            seen.highest.load() / kMiB, " MiB");
    CHECK(gave_up == 0);
    CHECK(seen.highest <= kLimit);
    CHECK(seen.highest > kLimit - 128 * kMiB);  // it was a fight
    CHECK(seen.granted > 1000);
    CHECK(seen.refused > 1000);
    CHECK(eventually([&] { return node.charged() == 0; }));
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        MUST(cuda.really_used() == kContext);
    }));
}
