// SPDX-License-Identifier: Apache-2.0
//
// What did jobs like this one take? Jobs of one project, user and number of GPUs that were handed
// in at about the same time are often one experiment repeated, and take about the same time: on
// public traces the logarithms of the durations of two in a row, less than two minutes apart,
// correlate with 0.6 to 0.98 (docs/simulation.md). Two things are known of a job before it runs:
//
//   a guess   the median size of the three finished ones submitted nearest to it
//   a bound   what three in four of those submitted within an hour of it have used, finished or not
//
// Cost: O(kNear log kNear) a question.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "ordering/order.h"

namespace berth::ordering {

// How near in time the best witness is: each class is trusted as far as it has proved right.
inline constexpr std::size_t kNearnessClasses = 4;

struct Guess {
    GpuMs size = 0;
    std::size_t nearness = 0;  // 0 = the nearest

    bool operator==(const Guess&) const = default;
};

class Kin {
  public:
    void submitted(const Standing& job);
    void used(const Standing& job);
    void finished(const Standing& job);

    std::optional<Guess> guess(Ticket job) const;
    // 0 = none.
    GpuMs bound(Ticket job) const;
    // Of its kin, those submitted about when `job` was and not finished.
    std::vector<Ticket> unfinished_near(Ticket job) const;

  private:
    struct Member {
        Ticket job = 0;
        TimePoint submitted;
        GpuMs used = 0;
        bool is_finished = false;
    };
    using Family = std::vector<Member>;  // in order of submission
    struct Place {
        Family* family = nullptr;
        std::size_t at = 0;
    };
    struct Neighbour {
        const Member* member;
        Duration apart;
    };

    Member& own(Ticket job);
    // At most kNear on each side, in order of submission.
    std::vector<Neighbour> near(Ticket job) const;

    std::map<std::pair<std::int32_t, std::int32_t>, Family> families_;  // by kin and GPUs
    std::vector<Place> places_;
};

}  // namespace berth::ordering
