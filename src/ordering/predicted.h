// SPDX-License-Identifier: Apache-2.0
//
// Which job costs the least GPU time for the next completion, by what its kin took (kin.h)? A guess
// is used as far as guesses have proved right: of finished jobs the size is kept as a part of what
// had been guessed, and the Gittins index of those parts (gittins_index.h), times the guess, is the
// job's cost. Where guesses mean nothing, parts scatter like sizes and the index knows no more than
// the blind one. A job without a guess goes by the sizes of all. A job whose kin have used more
// than it has, and most have not finished, has at least that much before it: the first of a batch
// is a pilot for the rest.
//
// Whoever used less than kFirstLook goes before all others, whatever is thought of it.
#pragma once

#include <array>

#include "ordering/gittins_index.h"
#include "ordering/kin.h"
#include "ordering/order.h"

namespace berth::ordering {

class Predicted final : public Order {
  public:
    static constexpr GpuMs kFirstLook = 60'000;

    // `stickiness_percent`: a running job's cost counts for so much of itself.
    explicit Predicted(std::int64_t stickiness_percent);

    Rank rank(const Standing& job) const override;
    TimePoint next_change(const Standing& job) const override;
    void notice(Happening happening, const Standing& job) override;
    Moved moved() override;

  private:
    // An index and what it was learned from.
    struct Knowledge {
        GittinsIndex index;
        std::vector<std::int64_t> sizes{};
        std::size_t next_learning = 20;
        bool is_learned = false;

        // True when the index is new.
        bool add(std::int64_t size);
    };
    struct Belief {
        std::optional<Guess> guess;
        GpuMs bound = 0;

        bool operator==(const Belief&) const = default;
    };
    // A job's index and the unit it counts in.
    struct View {
        const GittinsIndex* index;
        GpuMs unit;
    };

    const Belief& belief(Ticket job) const { return beliefs_[static_cast<std::size_t>(job)]; }
    View view(Ticket job) const;
    GpuMs cost(const Standing& job) const;
    void believe_anew(Ticket job);

    std::int64_t stickiness_percent_;
    Kin kin_;
    std::vector<Belief> beliefs_;
    Knowledge blind_{GittinsIndex(kFirstLook)};
    std::array<Knowledge, kNearnessClasses> parts_;
    Moved moved_;
};

}  // namespace berth::ordering
