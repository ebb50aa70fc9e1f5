// SPDX-License-Identifier: Apache-2.0
//
// How busy is each GPU, and how full, as far as it is measured? Of a GPU that did something in the
// last kIdleAfter it is not said that it is idle: between two steps of a program it does nothing.
// Cost: O(GPUs + readings).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "api/map/topology.h"
#include "model/ledger.h"
#include "ports/gpu_inventory.h"

namespace berth::api {

inline constexpr base::Duration kIdleAfter{10'000};
inline constexpr std::uint8_t kNotMeasured = 255;
inline constexpr int kSteps = 16;  // 0 .. 15

// Of GPUs as overview::GpuMap has them: `first` is the position of each node's first one.
class Activity {
  public:
    // What was known of positions is forgotten when there are others.
    void hear(std::span<const ports::GpuReading> readings,
              const std::shared_ptr<const Topology>& topology,
              const std::vector<std::size_t>& first, std::size_t gpus, base::TimePoint now);

    // In steps, 0 = nothing; kNotMeasured.
    std::uint8_t busy(std::size_t gpu) const { return busy_[gpu]; }
    std::uint8_t memory(std::size_t gpu) const { return memory_[gpu]; }
    // What a use of a job that runs turns out to be; all others stay as they are.
    model::GpuUse measured(model::GpuUse use, std::size_t gpu) const;

  private:
    std::shared_ptr<const Topology> heard_of_;
    std::vector<std::uint8_t> busy_;
    std::vector<std::uint8_t> memory_;
    std::vector<base::TimePoint> last_busy_;
    base::TimePoint now_;
};

}  // namespace berth::api
