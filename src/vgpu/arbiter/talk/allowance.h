// SPDX-License-Identifier: Apache-2.0
//
// How often are the processes of a tenant heard? What they say costs the arbiter's time, which all
// tenants share.
#pragma once

#include <algorithm>
#include <cstdint>

namespace berth::vgpu::arbiter {

class Allowance {
  public:
    // Once in `every_ns` on average, `ahead` times at once.
    Allowance(std::int64_t every_ns, std::int64_t ahead)
        : every_(every_ns), ahead_(ahead * every_ns) {}

    // Once more at this time. False: that was once too often, and who was heard has to rest.
    bool take(std::int64_t now) {
        spent_until_ = std::max(spent_until_, now) + every_;
        return spent_until_ - now <= ahead_;
    }

  private:
    std::int64_t every_;
    std::int64_t ahead_;
    std::int64_t spent_until_ = 0;
};

}  // namespace berth::vgpu::arbiter
