// SPDX-License-Identifier: Apache-2.0
//
// Which jobs are like this one, and how far have they come? Jobs of one project, user and number
// of GPUs that were handed in at about the same time are often one experiment repeated, and take
// about the same time: on public traces the logarithms of the durations of two in a row, less than
// two minutes apart, correlate with 0.6 to 0.98 (docs/simulation.md).
#pragma once

#include <array>
#include <map>
#include <span>
#include <utility>

#include "ordering/order.h"

namespace berth::ordering {

class Kin {
  public:
    // At most so many before a job, and behind it, in order of submission.
    static constexpr std::size_t kNear = 32;

    // How far a job has come: the step of its size, or of what it is known to have used.
    struct Course {
        std::uint8_t step = 0;
        bool has_ended = false;

        bool operator==(const Course&) const = default;
    };
    struct Sibling {
        Ticket job = 0;
        TimePoint submitted;
    };
    using Courses = std::array<Course, 2 * kNear + 1>;  // of those near a job
    // Those near a job, in order of submission, itself among them; until the next is submitted.
    struct Near {
        std::span<const Sibling> siblings;
        std::span<const Course> courses;  // of each
        std::size_t self = 0;

        Duration apart(std::size_t other) const {
            const Duration later = siblings[other].submitted - siblings[self].submitted;
            return std::max(later, -later);
        }
    };

    void submitted(const Standing& job);
    Course& of(Ticket job);
    Course of(Ticket job) const;
    Near near(Ticket job) const;

  private:
    struct Family {  // in order of submission
        std::vector<Sibling> siblings;
        std::vector<Course> courses;
    };
    struct Place {
        Family* family = nullptr;
        std::size_t at = 0;
    };

    const Place& place(Ticket job) const { return places_[static_cast<std::size_t>(job)]; }

    std::map<std::pair<std::int32_t, std::int32_t>, Family> families_;  // by kin and GPUs
    std::vector<Place> places_;
};

}  // namespace berth::ordering
