// SPDX-License-Identifier: Apache-2.0
//
// What will a job take, by what its cluster has seen? A mixture of experts, each of whom says how
// sizes are distributed (views.h).
//
// Each job that ends tells how likely each expert had held its size, and is a step of Bayes' rule
// for their weights; a fixed share of the weight is dealt out anew each time, so that an expert
// that was wrong can come back (Herbster and Warmuth, 1998). Weights are apart for jobs whose
// nearest sibling that tells something is about as far away. An expert thus counts only as far as
// it has proved right, and only on what was not known when it said so.
#pragma once

#include <utility>

#include "ordering/views.h"

namespace berth::ordering {

using Weights = std::array<std::int32_t, kExperts>;  // their sum is kSure, or a little less

// What was known of a job's kin and of whom to believe, at one moment.
struct Evidence {
    Kin::Courses courses{};
    std::array<Weights, kReaches + 1> weights{};  // by Views::nearness
};

// What all experts together hold of a job, worked out step by step, as far as it is asked.
class Opinion {
  public:
    explicit Opinion(Views views) : views_(std::move(views)) {}

    // Later than what was learned before.
    void learn(const Kin::Near& near, const Evidence& evidence);

    std::int32_t hazard(std::size_t step) {
        while (known_ <= step) mix();
        return mixed_[step];
    }

  private:
    void mix();

    Views views_;
    Weights weights_{};  // at the first step not known
    Hazards mixed_{};
    std::size_t known_ = 0;
};

class Experts {
  public:
    // After so many steps of its size a job's kin are to hear of it.
    static constexpr std::size_t kStepsTold = 3;

    Experts();

    void submitted(const Standing& job);
    // Whether its kin are to hear of it.
    bool used(const Standing& job);
    // Whether all of them have learned by it.
    bool finished(const Standing& job);

    const Ends& all_ends() const { return all_.ends; }
    // An opinion learns of near() by evidence(), which may be from earlier, but not from before all
    // have learned.
    Opinion opinion(Ticket job) const { return Opinion(views_of(job)); }
    Kin::Near near(Ticket job) const { return kin_.near(job); }
    Evidence evidence(Ticket job) const;
    // Those of whom another opinion is held by what `job` did last: its kin that have not ended,
    // have passed the first step, and are not further than it.
    std::vector<Ticket> concerned(Ticket job) const;

  private:
    struct Seen {
        Ends ends;
        Hazards hazards;  // as last learned
    };

    Views views_of(Ticket job) const;
    Seen& width(std::int32_t gpus);
    void weigh(const Views& views, std::size_t step);
    void learn();

    Kin kin_;
    std::vector<std::int32_t> widths_of_;  // by job
    Seen all_;
    std::map<std::int32_t, Seen> widths_;
    std::array<Weights, kReaches + 1> weights_;
    std::int64_t finished_ = 0;
    std::int64_t next_learning_ = 1;
};

}  // namespace berth::ordering
