// SPDX-License-Identifier: Apache-2.0
//
// Which job of a project is next? Rule R3: higher priority first, then gangs below their minimum
// before those at it before those above it, then the older, then the lower id (ids follow names
// among jobs of one age). Jobs alike stand in one lane: when its first cannot go on, the lane is
// closed for the rest of the stage, so that a thousand equal jobs cost one look.
//
// Cost: O(lanes log lanes) when the lanes of a project have changed, then O(1) a question.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "cluster/pool_state.h"

namespace berth::scheduling {

// A lane and the first job in it.
struct LaneHead {
    cluster::LaneKey lane;
    model::TimePoint created;
    base::JobId job;
};

class JobOrder {
  public:
    // Begins anew: nothing is closed. One order serves one claim of one cluster.
    void open(const cluster::Claim& claim);
    // Looks at the claim's lanes; again whenever they changed. What was closed stays closed.
    void read(const cluster::Claim& claim);
    // Null when no lane is open.
    const LaneHead* next() const { return open_.empty() ? nullptr : &open_.back(); }
    void close(const cluster::LaneKey& lane);
    // This job cannot go on, the others of its lane may; read() again afterwards.
    void pass_over(base::JobId job) { passed_.insert(job); }
    // The last one first.
    std::span<const LaneHead> heads() const { return open_; }

  private:
    const std::vector<LaneHead>& heads_of(const cluster::Claim& claim);
    void read_without_passed(const cluster::Claim& claim);

    std::optional<std::uint64_t> stamp_;  // of the lanes as read
    std::vector<LaneHead> all_;  // then, the last one first
    std::vector<LaneHead> left_;  // of them, when others than the first ones are closed
    std::span<const LaneHead> open_;  // part of one of both
    std::vector<cluster::LaneKey> closed_;
    std::set<base::JobId> passed_;
};

}  // namespace berth::scheduling
