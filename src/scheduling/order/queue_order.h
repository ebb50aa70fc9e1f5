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

#include <functional>
#include <optional>
#include <vector>

#include "scheduling/order/job_order.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

// What R2 compares, for one tree node that would take `amount` more.
struct ServiceKey {
    std::uint64_t first = 0;  // 1 to 4 in one number, the smaller served first
    std::uint64_t share = 0;  // 5, rounded down: where it differs, so does the share
    MilliGpu allocated{0};
    MilliGpu with_job{0};
    MilliGpu allocatable{0};
};
ServiceKey service_key(const PoolView& view, ProjectId project, MilliGpu amount);
// Whether `left` is served before `right`; false when only age tells them apart.
bool is_before(const ServiceKey& left, const ServiceKey& right);

// A cheap condition that a job class must meet for its first job to be worth a try. Its answer
// changes only when changed() is called.
using ClassTest = std::function<bool(ProjectId, const ClassHead&)>;

struct Candidate {
    ProjectId project;
    cluster::JobClassKey job_class;
    JobId job;
};

// What the orders of one pool leave for the next one: job classes that did not change are not read
// again. One order at a time.
struct QueueMemory {
    // A tree node, and whose next job stands for it; not valid when there is none.
    struct Best {
        ProjectId project;
        MilliGpu amount{0};  // that job asks
        ServiceKey key;
    };
    std::vector<JobOrder> jobs;  // by project
    std::vector<Best> best;  // by project
    bool is_lent = false;
};

class QueueOrder {
  public:
    QueueOrder(const PoolView& view, QueueMemory& memory, ClassTest test);
    ~QueueOrder() { memory_.is_lent = false; }
    QueueOrder(const QueueOrder&) = delete;
    QueueOrder& operator=(const QueueOrder&) = delete;

    // The next job to be tried, or nothing when no job class that is still open passes the test.
    // Job classes that fail it are passed over in their turn: until then they count in the order
    // like others.
    std::optional<Candidate> next();
    // Says that the candidate's job class cannot go on in this pass.
    void close(const Candidate& candidate);
    // Says that the candidate alone cannot; the next of its job class comes after it.
    void pass_over(const Candidate& candidate);
    // Says that this project's jobs or holdings changed, or what is free.
    void changed(ProjectId project);

  private:
    using Best = QueueMemory::Best;

    bool is_worth_going_on();
    void look_again();
    void close(ProjectId project, const cluster::JobClassKey& job_class);
    const ClassHead& head(const Best& best) const {
        return *memory_.jobs[best.project.index()].next();
    }
    void read_below(ProjectId project);
    void refresh(ProjectId project);
    void refresh_from(ProjectId project);  // it and everything above it
    MilliGpu asked(const cluster::JobClassKey& job_class) const;

    const PoolView& view_;
    QueueMemory& memory_;
    ClassTest test_;
    // An open job class that passes the test, once looked for: nothing passes before it.
    struct Hopeful {
        std::size_t first = 0;  // the project that is looked at first
        std::size_t projects = 0;  // that were looked at
        std::size_t job_class = 0;  // position among the open ones of the next project
        bool is_found = false;
    } hopeful_;
};

}  // namespace berth::scheduling
