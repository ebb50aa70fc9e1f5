// SPDX-License-Identifier: Apache-2.0
//
// Which job costs the least GPU time for the next completion, by what its cluster has seen? What a
// job will take is a mixture of experts (experts.h), who count as far as they have proved right;
// its cost is the Gittins index of that mixture at the step of its size that it has got to
// (hazards.h).
//
// Costs are told apart by stages, six for each level of geo8 (levels.h); inside a stage running
// jobs are first, then those that ask fewer GPUs. Whoever has not passed the first step, a
// GPU-minute, is on the first stage, whatever is thought of it.
//
// The long job pays for that: it has to let all pass of whom less is thought. Where
// `oldest_percent` asks for it, those stages are one, on which the oldest are first, that begin
// where no more than so much of all GPU time so far was used by jobs beyond
// (Ends::last_percent_begin).
//
// Cost, for each job that a step of another concerns: O(kin + experts) to keep what was known then;
// O(steps x experts) to work out what to think of it, once somebody asks for more than bounds.
#pragma once

#include <memory>

#include "ordering/experts.h"
#include "ordering/order.h"

namespace berth::ordering {

class Predicted final : public Order {
  public:
    explicit Predicted(std::int64_t oldest_percent = 0);

    Rank rank(const Standing& job) const override;
    TimePoint next_change(const Standing& job) const override;
    void notice(Happening happening, const Standing& job) override;
    std::optional<Bounds> bounds(const Standing& job) const override;
    Moved moved() override;

  private:
    // What is thought of a job by what was known when it was asked for; worked out where it
    // matters.
    struct Belief {
        explicit Belief(Opinion its_opinion) : opinion(std::move(its_opinion)) {}

        bool is_held = false;
        bool is_worked_out = false;
        Evidence evidence;
        Opinion opinion;
        std::array<std::int8_t, kSizeSteps> stages;  // by step; negative = not asked yet
    };

    std::int64_t stage_of(GpuMs cost) const;
    // Of its cost; whatever is behind the last stage is on it.
    std::int64_t stage(Ticket job, std::size_t step) const;
    void forget(Ticket job);
    Belief& hold(Ticket job) const;

    std::vector<GpuMs> stages_;  // where they begin, but the first
    const std::int64_t oldest_percent_;
    std::int64_t last_;
    Experts experts_;
    mutable std::vector<std::unique_ptr<Belief>> beliefs_;
    Moved moved_;
};

}  // namespace berth::ordering
