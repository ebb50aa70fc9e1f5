// SPDX-License-Identifier: Apache-2.0
//
// How much device time is a tenant charged? What it reports. And while it keeps the GPU from others
// and says that it has work there, half of that time at least: who reports nothing must not have
// all of it. What was charged before it was reported is not charged again, so that a kernel which
// is reported when it ends costs what it took.
#pragma once

#include <algorithm>
#include <cstdint>

namespace berth::vgpu::windows {

class Usage {
  public:
    // ns: `reported` since the last time, and how long it kept the GPU since then.
    std::int64_t charge(std::int64_t reported, std::int64_t kept) {
        const std::int64_t known = std::min(reported, advance_);
        advance_ -= known;
        const std::int64_t more = std::max(reported - known, kept / 2);
        advance_ += more - (reported - known);
        return more;
    }

  private:
    std::int64_t advance_ = 0;  // charged and not yet reported
};

}  // namespace berth::vgpu::windows
