// SPDX-License-Identifier: Apache-2.0
#include "cluster/nodes/node_state.h"

#include <algorithm>
#include <limits>

namespace berth::cluster {

std::int64_t HostUse::free(View view) const {
    if (capacity == kUnaccounted) return std::numeric_limits<std::int64_t>::max();
    const std::int64_t promised = view == View::Idle ? std::max(releasing, reserved) : reserved;
    return capacity - used - promised;
}

}  // namespace berth::cluster
