// SPDX-License-Identifier: Apache-2.0
//
// Which jobs are like this one, and how far have they come? By one likeness (likeness.h). Jobs of
// one project, user and number of GPUs that were handed in at about the same time are often one
// experiment repeated, and take about the same time: on public traces the logarithms of the
// durations of two in a row, less than two minutes apart, correlate with 0.6 to 0.98
// (docs/simulation.md).
//
// Memory: those that have ended are kept while they are near one that lives, or among the last of
// their family; of families without a living job the kFamiliesMax that submitted last.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/quantity.h"
#include "model/answer/order_ledger.h"

namespace berth::ordering {

using base::Duration;
using base::JobId;
using base::TimePoint;

class Kin {
  public:
    // The most before a job, and behind it, in order of submission.
    static constexpr std::size_t kNear = 32;
    static constexpr std::size_t kFamiliesMax = 4096;

    // Jobs alike that ask as many GPUs.
    struct Family {
        std::uint64_t kin = 0;  // in what they are alike
        std::int64_t width = 0;  // GPUs, in thousandths

        auto operator<=>(const Family&) const = default;
    };
    // The place of a job in its family.
    struct Place {
        Family family;
        std::int64_t number = -1;

        bool is_valid() const { return number >= 0; }  // else it is like no other
    };
    // How far a job has come: the step of its size, or of what it is known to have used.
    struct Course {
        std::uint8_t step : 7 = 0;
        bool has_ended : 1 = false;

        bool operator==(const Course&) const = default;
    };
    struct Sibling {
        JobId job;
        TimePoint submitted;
        std::int64_t number = 0;  // of those of its family, in order of submission
        bool lives = true;
    };
    using Courses = std::array<Course, 2 * kNear + 1>;  // of those near a job
    // Those near a job, in order of submission, itself among them; until the next is submitted.
    struct Near {
        std::span<const Sibling> siblings;
        std::span<const Course> courses;  // of each
        std::size_t self = 0;

        Duration apart(std::size_t other) const {
            const Duration later = siblings[other].submitted - siblings[self].submitted;
            return later < Duration{} ? -later : later;
        }
    };

    Place submitted(JobId job, Family family, TimePoint time);
    void got_to(const Place& place, std::size_t step);
    void ended(const Place& place, std::size_t step);
    // It has taken nothing and tells nothing.
    void withdrawn(const Place& place);
    std::size_t step(const Place& place) const;
    Near near(const Place& place) const;

    // `likeness`: which one this is, among those of the ledger.
    void save(model::OrderLedger& ledger, int likeness) const;
    void restore(const model::OrderLedger& ledger, int likeness);

  private:
    struct Members {  // in order of submission
        std::vector<Sibling> siblings;
        std::vector<Course> courses;
        std::int64_t next_number = 0;
        std::size_t alive = 0;
        std::size_t tidy_at = 8 * kNear;  // forgets at this number

        std::size_t at(std::int64_t number) const;
    };

    const Members& members(const Place& place) const { return families_.at(place.family); }
    static void leave(Members& members, std::size_t at);
    static void forget_far(Members& members);
    void forget_families();

    std::map<Family, Members> families_;
};

}  // namespace berth::ordering
