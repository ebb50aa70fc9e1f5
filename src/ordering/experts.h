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

#include "ordering/hazards.h"
#include "ordering/kin.h"

namespace berth::ordering {

// How many there are: kin's, and those two in general.
inline constexpr std::size_t kReaches = 4;
inline constexpr std::size_t kExperts = 2 + kReaches;
using Weights = std::array<std::int64_t, kExperts>;  // their sum is kSure, or a little less

// What all experts together hold of a job, worked out step by step, as far as it is asked.
class Opinion {
  public:
    Opinion(const std::array<Hazards, kExperts>& of, const Weights& weights)
        : of_(of), weights_(weights) {}

    std::int32_t hazard(std::size_t step) {
        while (known_ <= step) mix();
        return mixed_[step];
    }

  private:
    void mix();

    std::array<Hazards, kExperts> of_;
    Weights weights_;  // at the first step not known
    Hazards mixed_;
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
    Opinion opinion(Ticket job) const;
    // Those of whom another opinion is held by what `job` did last: its kin that have not ended,
    // have passed the first step, and are not further than it.
    std::vector<Ticket> concerned(Ticket job) const;

  private:
    struct Opinions {
        std::array<Hazards, kExperts> of;
        std::size_t nearness = 0;  // which weights
    };
    struct Seen {
        Ends ends;
        Hazards hazards;  // as last learned
    };

    Opinions opinions(Ticket job) const;
    Seen& width(std::int32_t gpus);
    void weigh(const Opinions& opinions, std::size_t step);
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
