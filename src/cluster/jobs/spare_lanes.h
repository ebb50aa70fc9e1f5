// SPDX-License-Identifier: Apache-2.0
//
// Whose memory can the next lane have? Lanes come and go with every job that is tried.
#pragma once

#include <vector>

#include "cluster/jobs/line.h"

namespace berth::cluster {

// Lanes in which nobody stands, for the next ones: their memory is used again.
class SpareLanes {
  public:
    SpareLanes() = default;
    SpareLanes(const SpareLanes&) {}  // a copy begins without
    SpareLanes& operator=(const SpareLanes&) { return *this; }
    SpareLanes(SpareLanes&&) = default;
    SpareLanes& operator=(SpareLanes&&) = default;

    // The lane of this key, made when nobody stands there.
    Lane& lane(Lanes& lanes, const LaneKey& key);
    // Takes out the lane, which is empty.
    void close(Lanes& lanes, Lanes::iterator lane) { spare_.push_back(lanes.extract(lane)); }

  private:
    std::vector<Lanes::node_type> spare_;
};

}  // namespace berth::cluster
