// SPDX-License-Identifier: Apache-2.0
//
// Which project is served next? Rule R2, at each level of the tree, each child standing for the
// best job below it:
//   1 not above its fair share   2 within quota with the job   3 higher priority
//   4 not without any share      5 smaller share with the job  6 smaller share without it
//   7 smaller allocatable        8 older
// share = allocated / allocatable. Read backwards the same order finds the next victim (R8).
//
// Cost: one look at each child on the path of what changed.
#pragma once

#include <optional>
#include <vector>

#include "scheduling/job_order.h"
#include "scheduling/pool_view.h"

namespace berth::scheduling {

// What R2 compares, for one tree node that would take `amount` more.
struct ServiceKey {
    bool over_fair = false;
    bool above_quota = false;
    int priority = 0;
    bool no_share = false;
    MilliGpu allocated{0};
    MilliGpu with_job{0};
    MilliGpu allocatable{0};
};
ServiceKey service_key(const PoolView& view, ProjectId project, MilliGpu amount);
// Whether `left` is served before `right`; false when only age tells them apart.
bool is_before(const ServiceKey& left, const ServiceKey& right);

class QueueOrder {
  public:
    explicit QueueOrder(const PoolView& view);

    // The next job to be tried, or nothing when every lane is closed or empty.
    std::optional<Candidate> next();
    // Says that the candidate's lane cannot go on in this stage.
    void close(const Candidate& candidate);
    // Says that this project's jobs or holdings changed.
    void changed(ProjectId project);

  private:
    struct Best {
        std::optional<Candidate> candidate;
        ServiceKey key;
    };
    void refresh(ProjectId project);
    void refresh_below(ProjectId project);

    const PoolView& view_;
    std::vector<JobOrder> jobs_;  // by project
    std::vector<Best> best_;      // by project
};

}  // namespace berth::scheduling
