// SPDX-License-Identifier: Apache-2.0
#include "api/map/activity.h"

#include <algorithm>

namespace berth::api {
namespace {

using model::GpuUse;

// Something is never nothing.
std::uint8_t step(std::int64_t part, std::int64_t whole) {
    if (part <= 0) return 0;
    const std::int64_t found = (part * (kSteps - 1) + whole / 2) / whole;
    return static_cast<std::uint8_t>(std::clamp<std::int64_t>(found, 1, kSteps - 1));
}

}  // namespace

void Activity::hear(std::span<const ports::GpuReading> readings,
                    const std::shared_ptr<const Topology>& topology,
                    const std::vector<std::size_t>& first, std::size_t gpus, base::TimePoint now) {
    now_ = now;
    busy_.assign(gpus, kNotMeasured);
    memory_.assign(gpus, kNotMeasured);
    if (heard_of_ != topology || last_busy_.size() != gpus) {
        heard_of_ = topology;
        last_busy_.assign(gpus, base::TimePoint::min());
    }
    for (const ports::GpuReading& reading : readings) {
        const auto node = topology->nodes.find(reading.node);
        if (node == topology->nodes.end()) continue;
        const std::size_t gpu = first[node->second] + static_cast<std::size_t>(reading.index);
        if (gpu >= gpus) continue;
        if (reading.utilization_percent >= 0) busy_[gpu] = step(reading.utilization_percent, 100);
        if (reading.utilization_percent > 0) last_busy_[gpu] = now;
        const base::Bytes all = topology->gpu_memory[node->second];
        const bool is_known = reading.memory_used.value >= 0 && all.value > 0;
        if (is_known) memory_[gpu] = step(reading.memory_used.value >> 10, all.value >> 10);
    }
}

GpuUse Activity::measured(GpuUse use, std::size_t gpu) const {
    if (use != GpuUse::NotMeasured || busy_[gpu] == kNotMeasured) return use;
    const bool was_busy = last_busy_[gpu] > base::TimePoint::min() + kIdleAfter &&
                          now_ - last_busy_[gpu] < kIdleAfter;
    return was_busy ? GpuUse::Busy : GpuUse::AllocatedIdle;
}

}  // namespace berth::api
