// SPDX-License-Identifier: Apache-2.0
//
// What will a job take, by what its cluster has seen? A mixture of experts, each of whom says how
// sizes are distributed (hazards.h), the more special one going by the more general one where it
// has seen little:
//
//   all            all jobs
//   width          those that ask as many GPUs
//   kin            those of the same project and user of that width, near in time (kin.h): the
//                  further apart in submission, the less they weigh. There are four, for whom two
//                  minutes, an hour or a day is far, or nothing.
//
// Each job that ends tells how likely each expert had held its size, and is a step of Bayes' rule
// for their weights; a fixed share of the weight is dealt out anew each time, so that an expert
// that was wrong can come back (Herbster and Warmuth, 1998). Weights are apart for jobs whose
// nearest sibling that tells something is about as far away. An expert thus counts only as far as
// it has proved right, and only on what was not known when it said so.
#pragma once

#include <utility>

#include "ordering/hazards.h"
#include "ordering/kin.h"

namespace berth::ordering {

// How many there are: kin's, and those two in general.
inline constexpr std::size_t kReaches = 4;
inline constexpr std::size_t kExperts = 2 + kReaches;
using Weights = std::array<std::int32_t, kExperts>;  // their sum is kSure, or a little less

// What was known of a job's kin and of whom to believe, at one moment.
struct Evidence {
    Kin::Courses kin{};
    std::array<Weights, kReaches + 1> weights{};
};

// What each expert says of a job. What kin tell is kept as counts by step, from which only what is
// new of them is worked out. `all` and `width` are looked at when asked.
class Views {
  public:
    Views(const Hazards& all, const Hazards& width) : all_(&all), width_(&width) {
        seen_.back().fill(kWidthWeight);
    }

    void learn(const Kin::Near& near, const Kin::Courses& kin);

    std::array<std::int32_t, kExperts> hazards(std::size_t step) const;
    std::size_t nearness() const { return nearness_; }  // which weights

  private:
    using ByReach = std::array<std::int32_t, kReaches>;  // weights of jobs
    static constexpr std::int32_t kWidthWeight = Ends::kJob;  // what `width` counts for

    ByReach weights(Duration apart) const;
    void count(Kin::Course course, const ByReach& weights);

    const Hazards* all_;
    const Hazards* width_;
    Kin::Courses known_{};
    // Of each step: who ended in it, who got to it and no further, who ended in it or got further.
    std::array<ByReach, kSizeSteps> ended_{}, reached_{}, seen_{};
    std::size_t nearness_ = kReaches;
};

// What all experts together hold of a job, worked out step by step, as far as it is asked.
class Opinion {
  public:
    explicit Opinion(Views views) : views_(std::move(views)) {}

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
    Evidence evidence(Ticket job) const;
    Kin::Near near(Ticket job) const { return kin_.near(job); }
    // Of one of whom nothing is known yet.
    Opinion opinion(Ticket job) const { return Opinion(views_of(job)); }
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
