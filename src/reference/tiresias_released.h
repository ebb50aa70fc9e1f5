// SPDX-License-Identifier: Apache-2.0
//
// What does Tiresias' released simulator do ("dlas-gpu", github.com/SymbioticLab/Tiresias,
// simulator/run_sim.py)? A baseline, deviations from the paper included:
//
//  - Inside a queue running jobs stand in front, in the order they came to run there; behind them
//    the waiting ones, in front those just paused. The paper says FIFO by start.
//  - Time to the next demotion is taken as (limit - seconds run) / GPUs, which mixes seconds and
//    GPU-seconds, in whole seconds rounded down. A job of several GPUs is therefore demoted late:
//    at the first event of any kind after it passed the limit, one queue an event.
//  - A demoted job stands behind the waiting ones of its new queue for that one event.
//
// Limits: 3,250 and 7,200 GPU-seconds, three queues.
#pragma once

#include "reference/order.h"

namespace berth::reference {

class TiresiasReleased final : public Order {
  public:
    OrderTraits traits() const override { return {.looks_at_every_event = true}; }
    Rank rank(const JobSnapshot& job) const override;
    TimePoint next_change(const JobSnapshot& job) const override;
    void notice(OrderEvent event, const JobSnapshot& job) override;
    void settle(std::span<const JobIndex> started, std::span<const JobIndex> paused) override;

  private:
    enum Part : std::int64_t { kInFront, kBehind };
    struct Place {
        std::size_t queue = 0;
        Part part = kBehind;
        std::int64_t number = 0;
    };

    Place& place(JobIndex job) { return places_[static_cast<std::size_t>(job)]; }

    std::vector<Place> places_;
    std::vector<JobIndex> demoted_;  // since the last settle
    std::int64_t last_ = 0;        // numbers given at the end of a part
    std::int64_t first_ = 0;       // numbers given in front of the waiting ones
};

}  // namespace berth::reference
