// SPDX-License-Identifier: Apache-2.0
//
// Which job costs the least GPU time for the next completion, by what its kin took (kin.h)? A guess
// is used as far as guesses have proved right: of finished jobs the size is kept as a part of what
// had been guessed, and the Gittins index of those parts (gittins_index.h), times the guess, is the
// job's cost. A class of guesses counts only while it is off by at most two fifths, in doublings,
// of what the mean of all sizes is off by; else, and without a guess, the cost is what the job has
// used, or its Gittins index among all finished sizes (Rest). A job whose kin have used more than
// it has, and most have not finished, has at least that much before it: the first of a batch is a
// pilot for the rest.
//
// Costs are told apart by the levels of geo8 (levels.h), those of guesses that count and of the
// index also by the doublings inside a level; all others are in the last of them. Where no guess
// counts and no kin is a pilot, this is geo8, unless the rest goes by the index. Whoever used less
// than kFirstLook is on the first level, whatever is thought of it.
#pragma once

#include <array>

#include "ordering/gittins_index.h"
#include "ordering/kin.h"
#include "ordering/order.h"

namespace berth::ordering {

class Predicted final : public Order {
  public:
    static constexpr GpuMs kFirstLook = 60'000;
    // What counts for jobs without a guess that counts.
    enum class Rest { Used, Index };

    explicit Predicted(Rest rest = Rest::Used);

    Rank rank(const Standing& job) const override;
    TimePoint next_change(const Standing& job) const override;
    void notice(Happening happening, const Standing& job) override;
    Moved moved() override;

  private:
    // What is known of the guesses of one class.
    struct Record {
        GittinsIndex index{kFirstPart};  // of the parts
        std::vector<std::int64_t> parts{};
        std::size_t next_learning = 20;
        bool is_learned = false;
        std::int64_t error = 0;  // of guesses, summed
        std::int64_t spread = 0;  // of the mean of all sizes, for the same jobs

        bool counts() const { return is_learned && error * 5 <= spread * 2; }
        // Whether it has learned by it.
        bool add(std::int64_t part);
    };
    static constexpr std::int64_t kFirstPart = 16;
    struct Belief {
        std::optional<Guess> guess;
        GpuMs bound = 0;

        bool operator==(const Belief&) const = default;
    };
    const Belief& belief(Ticket job) const { return beliefs_[static_cast<std::size_t>(job)]; }
    // None when the job has no guess that counts.
    const Record* record(Ticket job) const;
    void learn(const Guess& guess, GpuMs size);
    GpuMs cost(const Standing& job) const;
    bool rest_by_index() const { return rest_ == Rest::Index && sizes_.is_learned; }
    void believe_anew(Ticket job);

    Rest rest_;
    std::vector<GpuMs> stages_;  // where they begin, but the first
    Kin kin_;
    std::vector<Belief> beliefs_;
    std::array<Record, kNearnessClasses> records_;
    Record sizes_{.index = GittinsIndex{kFirstLook}};  // of all that finished, where Rest asks
    std::int64_t finished_ = 0;
    std::int64_t doublings_ = 0;  // of all finished sizes, summed
    Moved moved_;
};

}  // namespace berth::ordering
