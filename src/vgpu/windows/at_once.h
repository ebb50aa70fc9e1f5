// SPDX-License-Identifier: Apache-2.0
//
// May the jobs of a rotation have the GPU all at once, as the driver divides it?
//
// Turns keep jobs from slowing each other down that both load data, then compute. They lose what a
// job leaves idle within its iterations, as one does that launches slower than the GPU computes. So
// with fair, where weights are equal, and with pack, jobs whose peaks fit at once go at once when
// the GPU idled for more than 15 % of two seconds while a job waited for its turn; until one
// comes or goes. Who then needs more than its peak is let grow by turns.
#pragma once

#include <cstdint>

#include "vgpu/windows/rotation_job.h"

namespace berth::vgpu::windows {

class AtOnce {
  public:
    // Who is in the rotation has changed.
    void judge_anew();
    // That time went by in turns; for `idle` of it the GPU did nothing and a job waited.
    void count(std::int64_t elapsed, std::int64_t idle);
    // Decides. From then on, until it says no, all are to be let.
    bool is_time(const RotationTerms& terms, const RotationPace& pace, const RotationJobs& jobs,
                 std::int64_t now);
    // Not by turns at present.
    bool is_now() const { return since_ >= 0; }

  private:
    bool do_turns_pay_ = true;
    std::int64_t turns_ns_ = 0;  // not yet judged
    std::int64_t idle_ns_ = 0;
    std::int64_t since_ = -1;
    std::int64_t crowded_until_ = 0;
};

}  // namespace berth::vgpu::windows
