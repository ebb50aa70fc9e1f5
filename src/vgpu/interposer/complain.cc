// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/complain.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>

namespace berth::vgpu::interposer {
namespace {

double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

bool is_time() {
    static std::atomic<std::int64_t> last{0};
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    std::int64_t before = last.load();
    return now.tv_sec + 1 > before && last.compare_exchange_strong(before, now.tv_sec + 2);
}

}  // namespace

void complain(const char* format, ...) {
    char line[512] = "berth: ";
    constexpr int kStart = 7;
    va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(line + kStart, sizeof line - kStart - 1, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    int end = std::min(kStart + length, static_cast<int>(sizeof line) - 2);
    line[end++] = '\n';
    if (::write(STDERR_FILENO, line, static_cast<std::size_t>(end)) < 0) return;
}

void complain_of_limit(const Refusal& refusal) {
    if (!is_time()) return;
    if (!refusal.is_given) {
        complain(
            "this job has no share of the GPU that it uses and may not take memory of it; "
            "CUDA_VISIBLE_DEVICES should name its GPUs only");
        return;
    }
    if (refusal.burst > refusal.limit) {
        complain(
            "out of GPU memory that this job may borrow, others use it: asked for %.1f MiB, has "
            "%.1f MiB of the %.1f MiB that it was promised and at most %.1f MiB, on %s",
            mib(refusal.asked), mib(refusal.used), mib(refusal.request), mib(refusal.burst),
            refusal.uuid);
        return;
    }
    complain(
        "out of GPU memory by this job's own limit, the GPU may have more: asked for %.1f MiB, "
        "limit %.1f MiB, in use %.1f MiB, of that %.1f MiB by this process, on %s",
        mib(refusal.asked), mib(refusal.limit), mib(refusal.used), mib(refusal.used_here),
        refusal.uuid);
}

}  // namespace berth::vgpu::interposer
