// SPDX-License-Identifier: Apache-2.0
//
// First come, first served: no job is ever paused. With Overtaking::None the first waiting job
// blocks all behind it (strict FIFO, a YARN capacity queue); with WhatFits every job that fits may
// start (Tiresias' "fjf", best effort).
#pragma once

#include "reference/order.h"

namespace berth::reference {

enum class Overtaking { None, WhatFits };

class Arrival final : public Order {
  public:
    explicit Arrival(Overtaking overtaking) : overtaking_(overtaking) {}

    OrderTraits traits() const override {
        return {.pauses = false, .first_blocks = overtaking_ == Overtaking::None};
    }
    Rank rank(const JobSnapshot& job) const override { return {.level = job.runs ? 0 : 1}; }

  private:
    Overtaking overtaking_;
};

}  // namespace berth::reference
