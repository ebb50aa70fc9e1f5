// SPDX-License-Identifier: Apache-2.0
//
// In which order do jobs wait, said so that one that comes or goes changes its own place alone? A
// place is a number; the order is that of the numbers, and between two there is room.
#pragma once

#include <cstdint>
#include <span>

namespace berth::api {

using Place = std::int64_t;  // 0 = none yet; at most 2^53, which JavaScript still tells apart

// Makes the places rise, and changes as few as can be. Cost: O(n log n).
void settle_places(std::span<Place* const> in_order);

}  // namespace berth::api
