// SPDX-License-Identifier: Apache-2.0
//
// How crowded was a project during a job's life? What its jobs asked, over what it may have: its
// quota, or what it holds if that is more.
#pragma once

#include <cstdint>

#include "ordering/job_snapshot.h"

namespace berth::ordering {

class Crowd {
  public:
    // Sums over time wrap around: what counts are differences, of a life that is shorter than
    // 2^64 thousandths of GPU-milliseconds.
    struct Sums {
        std::uint64_t asked = 0;
        std::uint64_t may_have = 0;
        TimePoint until;
    };
    // Of a job, from its submission until now.
    struct Life {
        std::uint64_t asked = 0;
        std::uint64_t may_have = 1;

        // `alone`, as much longer as it was crowded.
        Duration stretch(Duration alone) const;
    };

    std::int64_t asked() const { return asked_; }
    std::int64_t may_have() const { return may_have_; }
    const Sums& sums() const { return sums_; }
    void ask(std::int64_t more, TimePoint now);
    void have(std::int64_t may_have, TimePoint now);
    // `before`: the sums when it was submitted.
    Life life(const Sums& before, TimePoint now) const;

    void restore(std::int64_t asked, std::int64_t may_have, const Sums& sums) {
        asked_ = asked;
        may_have_ = may_have;
        sums_ = sums;
    }

  private:
    Sums sums_at(TimePoint now) const;

    std::int64_t asked_ = 0;  // thousandths of GPUs
    std::int64_t may_have_ = 1000;
    Sums sums_;
};

}  // namespace berth::ordering
