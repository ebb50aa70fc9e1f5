// SPDX-License-Identifier: Apache-2.0
#include "fuzz/entry.h"

#include <time.h>

namespace berth::fuzz {
namespace {

// Instrumented code is slower: sanitizers, and all that clang compiles for libFuzzer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
constexpr double kSlowdownMax = 20;
#else
constexpr double kSlowdownMax = 1;
#endif

const Target* chosen = nullptr;

double seconds(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

void choose(const Target& target) { chosen = &target; }

}  // namespace berth::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace berth::fuzz;
    if (size > kInputMax) return -1;
    if (chosen == nullptr) choose(targets().front());
    const std::string_view input(reinterpret_cast<const char*>(bytes), size);
    const double limit = chosen->cpu_seconds_max * kSlowdownMax;
    const double begin = seconds(CLOCK_MONOTONIC);
    chosen->read(input);
    if (seconds(CLOCK_MONOTONIC) - begin < limit) return 0;
    // Too slow, or something else had the processor: the second run counts CPU time.
    const double used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    chosen->read(input);
    expect(seconds(CLOCK_PROCESS_CPUTIME_ID) - used < limit, "an input is read in bounded time");
    return 0;
}
