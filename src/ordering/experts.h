// SPDX-License-Identifier: Apache-2.0
//
// What will a job take, by what its cluster has seen? A mixture of experts, each of whom says how
// sizes are distributed (views.h).
//
// Each job that ends tells how likely each expert had held its size, and is a step of Bayes' rule
// for their weights; a fixed share of the weight is dealt out anew each time, so that an expert
// that was wrong can come back (Herbster and Warmuth, 1998). Weights are apart for jobs of which
// other things are known (Knowledge). An expert thus counts only as far as it has proved right, and
// only on what was not known when it said so: names that tell nothing soon count for nothing.
#pragma once

#include <map>
#include <utility>

#include "model/answer/order_account.h"
#include "ordering/views.h"

namespace berth::ordering {

using Weights = std::array<std::int32_t, kExperts>;  // their sum is kSure, or a little less

// Where a job stands among those alike.
using Places = std::array<Kin::Place, kLikenesses>;

// What was known of a job's kin, and how much each expert was believed, at one moment.
struct Belief {
    std::array<Kin::Courses, kLikenesses> courses{};
    Weights weights{};

    bool operator==(const Belief&) const = default;
};

// What all experts together hold of a job, worked out step by step, as far as it is asked.
class Opinion {
  public:
    std::int32_t hazard(std::size_t step) {
        while (known_ <= step) mix();
        return mixed_[step];
    }
    // How much each expert is believed of a job that has got to this step; before any hazard is
    // asked of it or of those behind it.
    const Weights& weights(std::size_t step) {
        while (known_ < step) mix();
        return weights_;
    }

    const Knowledge& knowledge() const { return views_.knowledge(); }

  private:
    friend class Experts;
    Opinion(const Hazards& all, const Hazards& width) : views_(all, width) {}
    void mix();

    Views views_;
    Weights weights_{};  // at the first step not known
    Hazards mixed_{};
    std::size_t known_ = 0;
};

class Experts {
  public:
    // The steps of its own size after which a job is expected to follow its kin.
    static constexpr std::size_t kStepsBelieved = 3;

    Experts();

    // `width`: thousandths of GPUs.
    Places submitted(JobId job, const Likenesses& alike, std::int64_t width, TimePoint time);
    // It has got to `step`, or was looked at there. Whether what is believed of it is
    // to follow its kin.
    bool got_to(const Places& places, std::size_t step);
    // Whether all have learned by it.
    bool finished(const Places& places, std::size_t step);
    // It was taken back before it had used anything.
    void withdrawn(const Places& places);

    std::size_t step(const Places& places) const { return kin_.front().step(places.front()); }
    const Ends& all_ends() const { return all_.ends; }
    std::int64_t jobs_finished() const { return finished_; }
    // What is known now, to go by it later.
    Belief belief(const Places& places) const;
    // By a belief that was noted earlier.
    Opinion opinion(const Places& places, const Belief& belief) const;
    // By what is known now, which is noted.
    Opinion opinion_now(const Places& places, Belief& noted) const;
    // By what all that is held of the job, which has got so far, for the most part: the jobs that
    // the most believed expert goes by.
    model::OrderEvidence evidence(const Places& places, const Belief& belief) const;
    // Those of whom another opinion is held by what this one did last: its kin that have not ended,
    // have passed the first step, and are not further than it.
    // `reach_max`: places before it or behind it, at most.
    std::vector<JobId> concerned(const Places& places, std::size_t reach_max) const;

    void save(model::OrderLedger& ledger) const;
    void restore(const model::OrderLedger& ledger);

  private:
    struct Seen {
        Ends ends;
        Hazards hazards;  // as last learned
        std::int64_t learned_from = 0;  // jobs that had ended
    };

    // Asks `look(likeness, kin, place)` for each likeness that it has.
    template <typename Look>
    static void for_each(auto& kin, const Places& places, Look&& look);
    const Hazards& hazards_of_width(const Places& places) const;
    void look(const Places& places, const Belief& belief, Views& views) const;
    void look_now(const Places& places, Belief& noted, Views& views) const;
    model::OrderEvidence kin_evidence(const Places& places, const Belief& belief,
                                      const Weights& weights, Likeness alike) const;
    Seen& width(std::int64_t width);
    std::array<Ends*, 2> ends_of(const Places& places);
    void weigh(const Views& views, std::size_t step);
    void learn();

    std::array<Kin, kLikenesses> kin_;
    Seen all_;
    std::map<std::int64_t, Seen> widths_;
    std::array<Weights, Knowledge::kKinds> weights_;
    std::int64_t finished_ = 0;
    std::int64_t learns_at_ = 1;
};

}  // namespace berth::ordering
