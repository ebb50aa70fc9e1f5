// SPDX-License-Identifier: Apache-2.0
//
// Which job of a project is next? Rule R3: higher priority first, then gangs below their minimum
// before those at it before those above it, then the older, then the lower id (ids follow names
// among jobs of one age). Jobs alike stand in one lane: when its first cannot go on, the lane is
// closed for the rest of the stage, so that a thousand equal jobs cost one look.
#pragma once

#include <optional>
#include <set>

#include "cluster/state.h"

namespace berth::scheduling {

struct Candidate {
    base::ProjectId project;
    cluster::LaneKey lane;
    base::JobId job;
};

class JobOrder {
  public:
    // The next job of the claim's lanes that are not closed.
    std::optional<Candidate> next(base::ProjectId project, const cluster::Claim& claim) const;
    void close(const cluster::LaneKey& lane) { closed_.insert(lane); }
    // This job cannot go on, the others of its lane may.
    void pass_over(base::JobId job) { passed_.insert(job); }
    bool is_closed(const cluster::LaneKey& lane) const { return closed_.contains(lane); }

  private:
    std::set<cluster::LaneKey> closed_;
    std::set<base::JobId> passed_;
};

}  // namespace berth::scheduling
