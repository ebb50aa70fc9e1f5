// SPDX-License-Identifier: Apache-2.0
//
// Which jobs are like this one, and how far have they come? Jobs of one project, user and number
// of GPUs that were handed in at about the same time are often one experiment repeated, and take
// about the same time: on public traces the logarithms of the durations of two in a row, less than
// two minutes apart, correlate with 0.6 to 0.98 (docs/simulation.md).
#pragma once

#include <map>
#include <utility>

#include "ordering/order.h"

namespace berth::ordering {

class Kin {
  public:
    // At most so many before a job, and behind it, in order of submission.
    static constexpr std::size_t kNear = 32;

    struct Sibling {
        Ticket job = 0;
        TimePoint submitted;
        std::size_t step = 0;  // of its size, or of what it is known to have used
        bool has_ended = false;
    };
    struct Near {
        const Sibling* sibling;
        Duration apart;  // in submission
    };

    void submitted(const Standing& job);
    Sibling& of(Ticket job);
    const Sibling& of(Ticket job) const;
    // Not the job itself.
    std::vector<Near> near(Ticket job) const;

  private:
    using Family = std::vector<Sibling>;  // in order of submission
    struct Place {
        Family* family = nullptr;
        std::size_t at = 0;
    };

    std::map<std::pair<std::int32_t, std::int32_t>, Family> families_;  // by kin and GPUs
    std::vector<Place> places_;
};

}  // namespace berth::ordering
