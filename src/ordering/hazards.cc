// SPDX-License-Identifier: Apache-2.0
#include "ordering/hazards.h"

#include <algorithm>

namespace berth::ordering {
namespace {

__extension__ using Wide = __int128;

constexpr GpuMs kFirst = 60'000;

constexpr auto kBegins = [] {
    std::array<GpuMs, kSizeSteps + 1> begins{};
    GpuMs next = kFirst;
    for (std::size_t step = 1; step <= kSizeSteps; ++step, next += next / 4) begins[step] = next;
    return begins;
}();

}  // namespace

std::size_t size_step(GpuMs size) {
    const auto above = std::upper_bound(kBegins.begin(), kBegins.end() - 1, size);
    return static_cast<std::size_t>(above - kBegins.begin()) - 1;
}

GpuMs size_step_begin(std::size_t step) { return kBegins[step]; }

Hazards Ends::hazards(const Hazards& general, std::int64_t weight) const {
    Hazards hazards = general;
    std::size_t step = kSizeSteps;  // behind the last at which anything was seen
    while (step > 0 && ended_[step - 1] == 0 && reached_[step - 1] == 0) --step;
    std::int64_t seen = weight;  // who got to the end of the step, or ended in it
    while (step-- > 0) {
        seen += ended_[step];
        const std::int64_t ends = ended_[step] * kSure + weight * general[step];
        hazards[step] = static_cast<std::int32_t>(ends / seen);
        seen += reached_[step];
    }
    return hazards;
}

GpuMs Ends::last_percent_begin(std::int64_t percent) const {
    Wide all = 0;
    for (std::size_t step = 0; step < kSizeSteps; ++step) {
        all += Wide{ended_[step] + reached_[step]} * kBegins[step];
    }
    Wide beyond = 0;
    std::int64_t jobs = 0;  // that got to the step
    for (std::size_t step = kSizeSteps; --step > 1;) {
        jobs += ended_[step] + reached_[step];
        beyond += Wide{jobs} * (kBegins[step] - kBegins[step - 1]);
        if (beyond * 100 > all * percent) return kBegins[step];
    }
    return kFirst;
}

}  // namespace berth::ordering
