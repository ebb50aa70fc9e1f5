// SPDX-License-Identifier: Apache-2.0
//
// Calls the driver in a loop, as a program does that looked its functions up:
//   berth-bench-vgpu start|launch|steps|noise|large|small ROUNDS
// and prints nanoseconds for each launch, or for an allocation and its free. The best of seven.
// `start` does nothing more. Launches are of one kernel, of steps of 2,000 different ones, or of no
// order at all.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "driver.h"

using namespace berth::bench;

namespace {

std::vector<CUfunction> some_functions(std::size_t count) {
    std::mt19937_64 dice(1);
    std::vector<CUfunction> functions(count);
    for (CUfunction& function : functions)
        function = reinterpret_cast<CUfunction>(dice() % 300 * 64);
    return functions;
}

void launches(long rounds, const std::vector<CUfunction>& functions) {
    static auto* const launch = look_up<decltype(cuLaunchKernel)>("cuLaunchKernel");
    std::size_t next = 0;
    for (long round = 0; round < rounds; ++round) {
        must(launch(functions[next], 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr), "launch");
        if (++next == functions.size()) next = 0;
    }
}

void allocations(long rounds, std::size_t bytes) {
    static auto* const allocate = look_up<decltype(cuMemAlloc_v2)>("cuMemAlloc");
    static auto* const free = look_up<decltype(cuMemFree_v2)>("cuMemFree");
    CUdeviceptr kept = 0;  // as a program has: the last small piece of a page is a rare one
    must(allocate(&kept, bytes), "allocation");
    for (long round = 0; round < rounds; ++round) {
        CUdeviceptr pointer = 0;
        must(allocate(&pointer, bytes), "allocation");
        must(free(pointer), "free");
    }
    must(free(kept), "free");
}

}  // namespace

int main(int count, char** words) {
    if (count != 3) return std::fprintf(stderr, "usage: berth-bench-vgpu WHAT ROUNDS\n"), 2;
    const std::string what = words[1];
    const long rounds = std::atol(words[2]);
    use_first_gpu();
    const std::vector<CUfunction> one(1);
    const std::vector<CUfunction> step = some_functions(2000);
    const std::vector<CUfunction> noise = some_functions(what == "noise" ? 1'000'000 : 0);
    double best = 1e18;
    for (int turn = 0; turn < 7; ++turn) {
        const double before = now_ns();
        if (what == "launch") launches(rounds, one);
        if (what == "steps") launches(rounds, step);
        if (what == "noise") launches(rounds, noise);
        if (what == "large") allocations(rounds, std::size_t{3} << 20U);
        if (what == "small") allocations(rounds, 4096);
        best = std::min(best, (now_ns() - before) / static_cast<double>(rounds));
    }
    std::printf("%.2f\n", best);
    return 0;
}
