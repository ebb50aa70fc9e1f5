// SPDX-License-Identifier: Apache-2.0
//
// Who lends, who borrows, in one pool? What is lent goes into the pool, so no lender has one
// borrower: lenders stand on one side, borrowers and what is free on the other.
//
// Guarantees: both sides sum to the same, exactly: lent + in no quota + on nodes that are not ready
// = borrowed + free + not there. Cost: O(projects).
#pragma once

#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "overview/sentences.h"

namespace berth::overview {

struct Part {
    std::string project;  // or a department, whose own part of its quota no project below it has
    MilliGpu gpus{0};
};

// GPUs as they count in the pool.
struct Lending {
    MilliGpu capacity{0};  // of ready nodes
    MilliGpu quotas{0};  // that are promised, of the topmost departments and projects
    std::vector<Part> lenders;  // unused quota, the largest first
    std::vector<Part> borrowers;  // use above quota, likewise
    std::vector<Part> owed;  // wanted within the quota by jobs that wait, likewise
    MilliGpu in_no_quota{0};
    MilliGpu not_ready{0};  // used on nodes that are not ready
    MilliGpu kept{0};  // unused, of fixed quotas: not lent, on neither side
    MilliGpu free{0};  // to be borrowed
    MilliGpu not_there{0};  // promised twice, or on nodes that are not ready

    MilliGpu lent() const;
    MilliGpu borrowed() const;
};

Lending lending_of(const cluster::Cluster& cluster, base::PoolId pool);

// The first one says who borrows, the second one who lends; behind them what quotas sum to and who
// waits within its own.
std::vector<Sentence> lending_sentences(const Lending& lending);

}  // namespace berth::overview
