// SPDX-License-Identifier: Apache-2.0
//
// Where did the GPU time go? A fold: it hears of every change of what GPUs are used for, and adds
// up how long each use lasted, by day (UTC), pool, GPU model, project and user, and for each job.
// Whole numbers, so when it is read, or restarted, changes nothing.
//
// Guarantees: on each day the uses of a pool's GPUs of one model sum to their number times the time
// that they were there, exactly. What is known only later (a pause or a failure lost work, a
// measurement says how busy GPUs were) moves time from one use to another one, of the same job on
// the same days: no sum changes. Time that goes back stands still; after a gap of more than
// kDaysKept days what was before is forgotten. Cost: of a change, O(nodes of the job); once a day,
// O(jobs with GPUs).
#pragma once

#include "base/paged_map.h"
#include "ledger/account.h"

namespace berth::ledger {

class Ledger {
  public:
    // --- what happens
    // As all was, so it was up to `time`.
    void advance(TimePoint time);
    void set_node(NodeId id, const NodeGpus& gpus);
    void set_job(JobId id, const Holder& holder, Charges used, Charges promised);
    // What free GPUs of the pool are: Free, BlockedByRoom or BlockedByRules.
    void set_free(PoolId pool, GpuUse use) { places_.set_free(pool, use, now()); }
    // --- what is known only afterwards
    void save(JobId id);
    // Of its work that is not saved at most `milli_gpu_ms`, the latest first; INT64_MAX = all.
    void lose(JobId id, GpuUse to, std::int64_t milli_gpu_ms);
    // Of its attempt's time that was not measured, the latest first, at most `milli_gpu_ms`:
    // kernels ran for that part.
    void measure(JobId id, Part busy, std::int64_t milli_gpu_ms);
    // What it has had in all; it has no GPU any more.
    GpuTimes end(JobId id);

    // --- questions
    // GPUs of now by use, in thousandths.
    GpuTimes uses() const { return places_.uses(); }
    std::int64_t gpus_of(JobId id) const;
    // What it has had in all, by then.
    GpuTimes times(JobId id, TimePoint until) const;
    // As it would be if nothing happened until `until`, or up to the last event.
    model::LedgerBook book(TimePoint until) const;
    model::LedgerBook book() const { return book(time_); }
    void restore(const model::LedgerBook& book, TimePoint time);

  private:
    Moment now() { return {time_, rows_}; }
    void settle_all();
    Account* settled(JobId id);

    TimePoint time_;
    Rows rows_;
    Places places_;
    base::PagedMap<JobId, Account> accounts_;  // of jobs that have, or had, GPUs
};

}  // namespace berth::ledger
