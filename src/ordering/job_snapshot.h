// SPDX-License-Identifier: Apache-2.0
//
// What an order may know of a job, and what it answers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/gpu_time.h"
#include "base/ids.h"
#include "base/quantity.h"
#include "ordering/hazards.h"

namespace berth::ordering {

using base::Duration;
using base::JobId;
using base::TimePoint;

inline constexpr TimePoint kNever = TimePoint::max();

// Which of two jobs of one project is first: the smaller. In one number, so that it is cheap to
// keep jobs sorted by it: the stage, then whether it runs, then how many GPUs it asks.
struct Rank {
    std::int64_t value = 0;

    // On a stage those that run, those that wait, and those whose turn has come, in this order.
    enum class Place : std::uint8_t { Runs, Waits, Granted };
    // `inside` counts up to 2^32.
    static constexpr Rank of(std::int64_t stage, Place place, std::int64_t inside) {
        constexpr std::int64_t kInsideMax = (std::int64_t{1} << 32) - 1;
        return {stage << 40 | static_cast<std::int64_t>(place) << 32 |
                std::clamp(inside, std::int64_t{0}, kInsideMax)};
    }
    constexpr int stage() const { return static_cast<int>(value >> 40); }

    auto operator<=>(const Rank&) const = default;
};
inline constexpr Rank kLastRank{INT64_MAX};

struct JobSnapshot {
    JobId job;
    bool waits = false;  // for its first GPUs, and may have them
    bool runs = false;  // it holds GPUs
    std::int64_t width = 0;  // what its gang asks, in thousandths of a GPU
    std::int64_t in_use = 0;  // what it holds, likewise
    TimePoint submitted;
    TimePoint waiting_since;
    Duration restart{};  // what a start after a pause costs it, once it was paused
    Duration restarted{};  // what its starts have cost it so far
    TimePoint restarts_until;  // after a pause: until then it makes no progress
    GpuMs counted = 0;  // GPU time it had up to `since`, holding as much as now since then
    TimePoint since;
    TimePoint now;

    GpuMs used() const { return counted + base::gpu_ms({in_use}, now - since); }
    // How long its gang has run for that, without what its restarts took.
    Duration ran() const {
        const Duration all{used() * 1000 / std::max<std::int64_t>(width, 1)};
        return std::max(all - restarted, Duration{0});
    }
    // When it will have had so much, if it goes on as it does.
    TimePoint when_used(GpuMs amount) const {
        constexpr Duration kCentury{std::int64_t{100} * 365 * 24 * 3600 * 1000};
        if (in_use <= 0) return kNever;
        const GpuMs missing = std::max<GpuMs>(amount - counted, 0);
        if (missing / in_use > kCentury.count() / 1000) return kNever;
        return since + Duration{(missing * 1000 + in_use - 1) / in_use};
    }
};

}  // namespace berth::ordering
