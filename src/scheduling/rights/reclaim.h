// SPDX-License-Identifier: Apache-2.0
//
// WHOSE JOBS ARE PAUSED when a project wants back what it lent? Rule R6.
//
//   Who may ask:  the project stays within its fair share with the job; work that cannot be
//                 paused also stays within the quota. Work without GPUs has no claim on GPUs: its
//                 claim on CPU and memory is in host_reclaim.h.
//                 With Policy::gang_reclaim a project below its share may cross it by less than
//                 the one gang: what must hold afterwards then keeps it from going too far.
//   Who may lose: at the first level where the two paths through the tree part, the other side,
//                 as long as before each job it still holds more than its allocatable share, or
//                 more than its quota when the asking side stays within its own. So the last job
//                 may overshoot, by its tasks as much as by all of it; no project loses what it
//                 holds within its quota to a project beside it that is above its own. Work without
//                 GPUs counts for nothing, so a side that stays within its quota may take it from
//                 anybody (Policy::reclaim_cpu_only) but from what quotas of CPU and memory keep.
//   Afterwards:   on every level no sibling that lost is left relatively worse off than the side
//                 that gained: not (gained / fair > 1 and gained / fair >= lost / its fair). So
//                 a project that lost to a sibling above its share is above its own and cannot ask
//                 back.
//
// The same ledger serves preemption inside a project, where anyone of lower priority may lose.
#pragma once

#include <cstdint>
#include <optional>

#include "base/small_vector.h"
#include "scheduling/rights/host_reclaim.h"

namespace berth::scheduling {

struct Beneficiary;

// What a unit counts as in quotas.
struct UnitSize {
    MilliGpu gpus{0};
    cluster::HostAsk host{};  // stated, of one without GPUs
    JobId part_of{};  // its job, where that has other units
};

// Whether the project may take this many GPUs back at all, for work that can be paused or cannot.
bool may_reclaim(const PoolView& view, ProjectId project, bool preemptible, MilliGpu amount);
// The same of a job, with or without GPUs.
bool may_reclaim(const PoolView& view, const cluster::Job& job, MilliGpu amount);

// Whether the sums of all siblings allow that much to be freed for the project at all, with the
// idle GPUs and those `reserved` for a gang: no means that no search can find it, yes means
// nothing. What is refused for one amount is refused for every larger one. A request by memory may
// take less of a large GPU than the amount it counts as, and any request may where GPU models are
// exchanged (AtMost). Cost: O(siblings of the project and of all above it).
enum class Counting { Exact, AtMost };
Counting counting_of(const PoolView& view, ShapeId shape);
bool could_be_freed(const PoolView& view, ProjectId project, MilliGpu amount, Counting counting,
                    MilliGpu reserved = {});

// Whether the job's side stays within its quota on every level: the owner's own right, which no
// minimum run delays.
bool is_within_quota(const PoolView& view, ProjectId project, MilliGpu amount);

// Keeps account of what each side has lost to one beneficiary so far.
class ReclaimLedger {
  public:
    ReclaimLedger() = default;  // empty: for jobs that it does not bind
    ReclaimLedger(const PoolView& view, const Beneficiary& beneficiary);

    // Whether a unit of this size may be taken from the project on top of what was taken, with
    // the balance kept.
    bool may_take(ProjectId from, const UnitSize& unit) const;
    // At most so much can ever be taken from the project's side in jobs up to this size.
    MilliGpu reclaimable_from(ProjectId from, MilliGpu largest) const;
    // Returns the GPUs of the largest job taken from that side before.
    MilliGpu take(ProjectId from, const UnitSize& unit);
    // Takes back the last take, which was of this unit and returned `largest_before`.
    void give_back(ProjectId from, const UnitSize& unit, MilliGpu largest_before);
    // The account of the sibling that a project is in; none for the beneficiary's own project.
    std::optional<std::size_t> account_of(ProjectId project) const;
    std::size_t accounts() const { return accounts_.size(); }
    // What each side holds above the floor, and what balance lets it lose; a ledger with no more
    // anywhere allows no more.
    using Headrooms = base::SmallVector<std::int64_t, 128>;
    Headrooms headrooms() const;

  private:
    // One side that may lose: a sibling of an ancestor of the beneficiary.
    struct SiblingAccount {
        MilliGpu allocated{0};  // before anything was taken
        MilliGpu protected_amount{0};  // it must hold more than this before each job
        MilliGpu reclaimable{0};  // more would leave it relatively worse off than the asking side
        MilliGpu taken{0};
        MilliGpu largest{0};  // that was taken of one job
    };
    const SiblingAccount* find_account(ProjectId from) const;
    // What was taken of the unit's job, with this unit.
    MilliGpu of_job_with(const UnitSize& unit) const;
    MilliGpu take_host(ProjectId from, const UnitSize& unit);
    void give_back_host(ProjectId from, const UnitSize& unit);

    bool takes_cpu_only_ = false;
    std::optional<HostLedger> host_;  // of work without GPUs, where a quota keeps any
    static constexpr std::uint32_t kNoAccount = static_cast<std::uint32_t>(-1);
    // By project: position in accounts_, or kNoAccount.
    base::SmallVector<std::uint32_t, 128> account_of_;
    base::SmallVector<SiblingAccount, 64> accounts_;
    struct JobPart {
        JobId job;
        MilliGpu taken{0};
    };
    base::SmallVector<JobPart, 4> parts_;  // of jobs that have several units
};

}  // namespace berth::scheduling
