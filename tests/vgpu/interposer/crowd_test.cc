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

// A thousand of them, and for as long as is asked for.
bool is_enough(int kills, std::int64_t begin) {
    const char* minutes = ::getenv("BERTH_SOAK_MINUTES");
    const std::int64_t least = minutes == nullptr ? 0 : std::atol(minutes) * 60'000'000'000;
    return kills >= 1000 && now_ns() - begin >= least;
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
    const std::int64_t began = now_ns();
    int kills = 0;
    for (; !is_enough(kills, began); ++kills) {
        pid_t& child = children[dice() % kProcesses];
        gave_up += kill_one(child) ? 0 : 1;
        child = begin();
        pause_ms(2);
        // However seldom they have a processor, they fight between two kills.
        const std::uint64_t enough = static_cast<std::uint64_t>(kills) + 1;
        REQUIRE(eventually([&] { return seen.granted > enough && seen.refused > enough; }));
    }
    for (const pid_t child : children) gave_up += kill_one(child) ? 0 : 1;
    MESSAGE("killed ", kills, ", granted ", seen.granted.load(), ", refused ", seen.refused.load(),
            ", at most ", seen.highest.load() / kMiB, " MiB");
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

TEST_CASE("300 processes that start at once all belong to their tenant, and leave nothing") {
    const GpuNode node("memory=1G");
    int until_all_are_there[2];
    REQUIRE(::pipe2(until_all_are_there, O_CLOEXEC) == 0);
    std::vector<pid_t> children;
    while (children.size() < 300)
        children.push_back(start([&] {
            ::close(until_all_are_there[1]);
            const Cuda cuda;
            if (CUDA(cuInit)(0) != CUDA_SUCCESS) return 1;
            char none = 0;
            return ::read(until_all_are_there[0], &none, 1) == 0 ? 0 : 2;
        }));
    CHECK(eventually([&] { return node.status("job", "processes") == "300"; }));
    ::close(until_all_are_there[1]);
    for (const pid_t child : children) CHECK(end_of(child) == 0);
    ::close(until_all_are_there[0]);
    CHECK(eventually([&] { return node.status("job", "processes") == "0"; }));
    CHECK(eventually([&] { return node.status("job", "lingering") == "0"; }));
}
