// SPDX-License-Identifier: Apache-2.0
//
// Which job of a project is next? Rule R3: higher priority first, then gangs below their minimum
// before those at it before those above it, then the older, then the lower id (ids follow names
// among jobs of one age). Jobs alike are in one job class: when its first cannot go on, the class
// is closed for the rest of the pass, so that a thousand equal jobs cost one look.
//
// Cost: O(n log n) when the job classes of a project have changed, then O(1) a
// question.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "cluster/pool_state.h"

namespace berth::scheduling {

// A job class and the first job in it.
struct ClassHead {
    cluster::JobClassKey job_class;
    model::TimePoint created;
    base::JobId job;
};
// Rule R3.
bool is_before(const ClassHead& left, const ClassHead& right);
// What rule R3 knows of a job, were it the only one of its job class.
ClassHead class_head_of(const cluster::Job& job);

class JobOrder {
  public:
    // Begins anew: nothing is closed. One order serves one claim of one cluster.
    void open(const cluster::Claim& claim);
    // Looks at the claim's job classes; again whenever they changed. What was closed stays closed.
    void read(const cluster::Claim& claim);
    // Null when no job class is open.
    const ClassHead* next() const { return open_.empty() ? nullptr : &open_.back(); }
    void close(const cluster::JobClassKey& job_class);
    // This job cannot go on, the others of its job class may; read() again afterwards.
    void pass_over(base::JobId job) { passed_.insert(job); }
    // The last one first.
    std::span<const ClassHead> heads() const { return open_; }

  private:
    const std::vector<ClassHead>& heads_of(const cluster::Claim& claim);
    void read_without_passed(const cluster::Claim& claim);

    std::optional<std::uint64_t> stamp_;  // of the job classes as read
    std::vector<ClassHead> all_;  // then, the last one first
    std::vector<ClassHead> left_;  // of them, when others than the first ones are closed
    std::span<const ClassHead> open_;  // part of one of both
    std::vector<cluster::JobClassKey> closed_;
    std::set<base::JobId> passed_;
};

}  // namespace berth::scheduling
