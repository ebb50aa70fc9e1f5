// SPDX-License-Identifier: Apache-2.0
//
// How does a project let no job wait for ever behind others of its priority? (Greater priority goes
// first, due or not: cluster/jobs/ranks.h.) A job that has waited too long is due. Due jobs get,
// the longest due first, a run of their own in front of all others but those that have hardly run
// at all. Together these runs hold a share of the GPUs that the project may have, so that under
// overload the guard slows its order down by that share and no more. A job wider than the share
// gets its run when no other has one.
//
//   ByWait      due: it has waited longer than `patience` times what it ever ran (ten minutes at
//               least). Its run is as long as what it ever ran, five minutes at least and an hour
//               at most, or a twentieth of it if that is more. No wait is without an end.
//   ByFairEnd   due: it is as old as `patience` times the end that would be fair if it were done
//               now: what it ever ran (30 s at least) times how crowded its project was during
//               its life (crowd.h; Mahajan et al., Themis, NSDI '20). Its run likewise, of two
//               minutes at least. It keeps the worst finish-time fairness near `patience`, but
//               promises no end of a wait while demand only grows.
//
// Without the bound on the share overload makes everybody due, and the order is lost; without the
// exception a job of seconds waits for a due one's hour (docs/simulation.md).
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "model/answer/order_ledger.h"
#include "ordering/crowd.h"
#include "ordering/job_snapshot.h"

namespace berth::ordering {

class Guard {
  public:
    enum class Due : std::uint8_t { ByWait, ByFairEnd };

    explicit Guard(Due due) : due_(due) {}

    // The number of its grant, while it has its run.
    std::optional<std::int64_t> grant_of(JobId job) const;
    bool is_due(JobId job) const { return claims_.contains(job); }  // granted or not
    // When it is due, or its run is over, if all goes on as it does.
    TimePoint next_change(const JobSnapshot& job, std::int64_t patience,
                          const Crowd::Life& life) const;

    // Each returns whose runs begin. `may_have`: GPUs of the project, in thousandths.
    // Its announced time has come.
    std::vector<JobId> time_came(const JobSnapshot& job, std::int64_t patience,
                                 const Crowd::Life& life, std::int64_t may_have);
    // It has started or stopped, or may not run any more.
    std::vector<JobId> changed(const JobSnapshot& job, std::int64_t may_have);
    std::vector<JobId> ended(JobId job, std::int64_t may_have);

    // No job is due.
    void reset();
    bool is_idle() const { return claims_.empty(); }
    model::GuardLedger save() const;
    void restore(const model::GuardLedger& ledger);

  private:
    struct Claim {
        GpuMs run_until = 0;
        std::int64_t width = 0;
        std::int64_t number = 0;  // 0 until it is granted
    };

    TimePoint due_at(const JobSnapshot& job, std::int64_t patience, const Crowd::Life& life) const;
    Duration run(const JobSnapshot& job) const;
    std::vector<JobId> give_up(JobId job, std::int64_t may_have);
    std::vector<JobId> grant(std::int64_t may_have);

    Due due_;
    std::map<JobId, Claim> claims_;
    std::deque<JobId> waiting_;  // who is due and has no run yet, the longest due first
    std::int64_t granted_ = 0;  // thousandths of GPUs
    std::int64_t grants_ = 0;
};

}  // namespace berth::ordering
