// SPDX-License-Identifier: Apache-2.0
#include "bench/decide/measure.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

// callgrind counts inside this function only; it must stay a function of this name.
extern "C" __attribute__((noinline)) void berth_bench_measured(
    const std::function<void()>& operation) {
    operation();
}

namespace {

std::int64_t g_allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
    ++g_allocations;
    if (void* memory = std::malloc(size)) return memory;
    std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace berth::bench {

std::int64_t allocations() { return g_allocations; }

namespace {

constexpr std::size_t kSamplesMin = 5;
constexpr std::size_t kSamplesMax = 2000;
constexpr std::int64_t kEnoughNs = 1'000'000'000;

std::int64_t thread_cpu_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

std::int64_t percentile(const std::vector<std::int64_t>& sorted, std::size_t percent) {
    return sorted[(sorted.size() - 1) * percent / 100];
}

}  // namespace

std::int64_t Run::timed(const std::function<void()>& operation) {
    const std::int64_t start = thread_cpu_ns();
    berth_bench_measured(operation);
    return thread_cpu_ns() - start;
}

void Run::measure(const std::string& what, int count, const std::function<void()>& operation,
                  const std::function<void()>& prepare) {
    std::vector<std::int64_t> samples;
    std::int64_t spent = 0;
    const auto is_enough = [&] {
        if (samples_max > 0) return std::ssize(samples) >= samples_max;
        return samples.size() >= kSamplesMax ||
               (samples.size() >= kSamplesMin && spent >= kEnoughNs);
    };
    while (!is_enough()) {
        if (prepare) prepare();
        samples.push_back(timed(operation));
        spent += samples.back();
    }
    print_times(what, count, std::move(samples));
}

void Run::print_times(const std::string& what, int count, std::vector<std::int64_t> samples) {
    std::ranges::sort(samples);
    const auto each = [&](std::int64_t total) {
        return static_cast<double>(total) / static_cast<double>(count);
    };
    std::printf(
        "{\"scenario\": \"%s\", \"profile\": \"%s\", \"nodes\": %d, \"what\": \"%s\", "
        "\"unit\": \"ns\", \"min\": %.1f, \"p50\": %.1f, \"p99\": %.1f, \"samples\": %zu, "
        "\"per_sample\": %d}\n",
        scenario.c_str(), profile.c_str(), nodes, what.c_str(), each(samples.front()),
        each(percentile(samples, 50)), each(percentile(samples, 99)), samples.size(), count);
    std::fflush(stdout);
}

void Run::print_number(const std::string& what, const std::string& unit, std::int64_t value) {
    std::printf(
        "{\"scenario\": \"%s\", \"profile\": \"%s\", \"nodes\": %d, \"what\": \"%s\", "
        "\"unit\": \"%s\", \"value\": %lld}\n",
        scenario.c_str(), profile.c_str(), nodes, what.c_str(), unit.c_str(),
        static_cast<long long>(value));
}

void Run::expect(bool condition, const std::string& what) const {
    if (condition) return;
    std::fprintf(stderr, "%s, %s, %d nodes: expected %s\n", scenario.c_str(), profile.c_str(),
                 nodes, what.c_str());
    std::exit(1);
}

}  // namespace berth::bench
