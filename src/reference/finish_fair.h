// SPDX-License-Identifier: Apache-2.0
//
// Who must run now so that everybody ends in fair time, and all of it soon? Finish-time fairness
// compares a job's completion time with what a fair part of the cluster would have given it: its
// run time x max(1, mean demand during its life / GPUs) (Mahajan et al., Themis, NSDI'20). This
// order knows durations and plans anew at every event and every `round`:
//
//   1. who would soon miss that fair end, earliest end first; who cannot reach it any more is not
//      helped until it would soon miss its worst end (`worst_percent` of the fair time): to help
//      it would cost others theirs
//   2. who alone would make everything last longer: its time left is `long_percent` or more of
//      what all jobs have left, spread over all GPUs; longest first
//   3. the least GPU time left
//
// No job waits for ever: a worst end comes nearer until its job is in 1. The goals are those of
// Shockwave (Zheng et al., NSDI'23), which plans rounds with a solver instead.
//
// Trusts: JobSnapshot::left at submission. A job without is last.
// Cost: O(jobs that have not ended) at every event.
#pragma once

#include "reference/order.h"

namespace berth::reference {

class FinishFair final : public Order {
  public:
    struct Terms {
        std::int32_t gpus = 1;  // of the cluster
        std::int64_t worst_percent = 178;
        std::int64_t long_percent = 80;
        Duration soon = std::chrono::minutes(15);  // to spare before an end
        Duration round = std::chrono::minutes(5);
    };

    explicit FinishFair(Terms terms) : terms_(terms) {}

    OrderTraits traits() const override { return {.looks_at_every_event = true}; }
    Rank rank(const JobSnapshot& job) const override;
    TimePoint next_change(const JobSnapshot& job) const override { return job.now + terms_.round; }
    void notice(OrderEvent event, const JobSnapshot& job) override;
    bool all_moved() override;

  private:
    struct Known {
        std::int32_t gpus = 1;
        TimePoint submitted;
        Duration work{};
        Duration left{};
        GpuMs asked_before = 0;  // asked_ at submission
        Rank rank{.level = kUnknown};
    };
    static constexpr std::int64_t kUnknown = 3;

    Known& known(JobIndex job) { return jobs_[static_cast<std::size_t>(job)]; }
    void go_to(TimePoint now);
    Rank planned(const Known& job, GpuMs left_of_all) const;

    Terms terms_;
    TimePoint now_;
    std::vector<Known> jobs_;
    std::vector<JobIndex> alive_;  // of known duration; rising
    std::int64_t demand_ = 0;    // GPUs asked by all that have not ended
    GpuMs asked_ = 0;            // the same, summed over time
};

}  // namespace berth::reference
