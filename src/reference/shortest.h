// SPDX-License-Identifier: Apache-2.0
//
// Shortest first: by run time left (SRTF), by GPU time left (SRSF), or by GPUs asked. The first two
// need what is left, known or predicted; a job without is last.
#pragma once

#include <limits>

#include "reference/order.h"

namespace berth::reference {

enum class Size { Gpus, TimeLeft, ServiceLeft };

class Shortest final : public Order {
  public:
    explicit Shortest(Size size) : size_(size) {}

    OrderTraits traits() const override { return {.is_in_flow = size_ != Size::Gpus}; }
    Rank rank(const JobSnapshot& job) const override {
        if (size_ == Size::Gpus) return {.key = job.gpus};
        if (!job.left) return {.key = std::numeric_limits<std::int64_t>::max()};
        return {.key = job.left->count() * (size_ == Size::ServiceLeft ? job.gpus : 1)};
    }

  private:
    Size size_;
};

}  // namespace berth::reference
