// SPDX-License-Identifier: Apache-2.0
#include "cluster/jobs/spare_lanes.h"

#include <utility>

namespace berth::cluster {

Lane& SpareLanes::lane(Lanes& lanes, const LaneKey& key) {
    const auto at = lanes.lower_bound(key);
    if (at != lanes.end() && at->first == key) return at->second;
    if (spare_.empty()) return lanes.try_emplace(at, key)->second;
    Lanes::node_type spare = std::move(spare_.back());
    spare_.pop_back();
    spare.key() = key;
    return lanes.insert(at, std::move(spare))->second;
}

}  // namespace berth::cluster
