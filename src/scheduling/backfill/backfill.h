// SPDX-License-Identifier: Apache-2.0
//
// When can a gang start that has waited long, where, and who may use its idle GPUs until then?
// Conservative backfill. Without it a job of eight GPUs never starts behind a stream of small ones,
// each of which takes the GPU that the last one left (example E16).
//
//   who reserves  a job of several whole GPUs without a required domain that has waited
//                 backfill_after, that quotas and limits allow to start, and that is the first of
//                 the jobs like it; where ranks tell jobs apart, the first of its project. At most
//                 backfill_max of them, the oldest first, each in the first pool of its list
//   where         on the GPUs that the fewest jobs without a declared run time use; of those, the
//                 GPUs that are free first by declared times; of those, the first nodes. The
//                 reserved GPUs can only improve by this measure, as a job without a declared run
//                 time may not start there: the gang starts as soon as the jobs in its way end, and
//                 its place does not wander. (By age alone the last job to start would be best: the
//                 longer a job has run, the longer it is expected to run.)
//   when          a job in the way ends as declared; one that has declared nothing, or has run
//                 longer, runs as long again, at least a minute. Services do not end.
//   who may       use the idle ones meanwhile: jobs as large or larger, in their turn; jobs that by
//                 their declared time end before the gang starts; jobs with a stronger right: a
//                 project within its quota where the gang's project is not, likewise within its
//                 fair share, where neither is the one that R2 serves first (queue_order.h), and
//                 older ones, or who would pause such a one for as many GPUs; in the gang's own
//                 project those of higher priority, those within the fair share if the gang is
//                 larger than it, and, where ranks tell jobs apart, all preemptible ones
//   fair share    later jobs of the gang's project leave as much of the fair share as the gang
//                 needs: a project that spends its share on small jobs could not start the gang.
//                 What they could reclaim from others they may have (passes/allocate.h), unless
//                 they cannot be paused: those would have it from the gang for good, and do not
//                 preempt their project's own jobs for it either
//
// A pure function of the cluster and the present: every decision makes the reservations anew. They
// keep GPUs, not the CPU beside them. Cost: at most kBackfillNodes nodes, those with the most idle
// GPUs, and the jobs on them; O(reservations) for each job that is asked about.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/small_vector.h"
#include "model/plan.h"
#include "scheduling/backfill/task_windows.h"

namespace berth::scheduling {

class Backfill {
  public:
    // Each of these makes it ready for a decision, which the view outlives, and keeps the idle
    // part: in both views of the cluster it is taken, inside the caller's Trial.
    void make(const PoolView& view, NodeWindows& windows);
    // Those that an earlier try at the same decision has made.
    void keep_again(const PoolView& view);
    // Those that a plan has made.
    void take_over(const PoolView& view, std::span<const model::BackfillReservation> made);

    bool empty() const { return count_ == 0; }
    // When time alone may change reservations, or who may use what they keep: a gang has waited
    // long enough, a job has run longer than declared, one that waits ends before a gang starts.
    std::optional<TimePoint> next_change() const { return next_change_; }
    // `before`, and those of gangs that go on waiting for the end of another job.
    std::vector<model::BackfillReservation> still_waiting(
        std::vector<model::BackfillReservation> before = {}) const;
    // How many GPUs are kept idle now, and whether a task of a job of that shape could stand on any
    // of them. The job is looked at where counts do not say.
    MilliGpu kept_gpus() const;
    bool could_open_for(ShapeId shape, JobId job);

    // What is kept from others and not from the job, nor from one that lets it pass and would be
    // paused for it. Once opened, the job can be given it, until this ends; nothing else changes
    // meanwhile what is kept.
    class Opening {
      public:
        Opening(Backfill& backfill, const cluster::Job& job, const cluster::Job* passed = nullptr);
        ~Opening();
        Opening(const Opening&) = delete;
        Opening& operator=(const Opening&) = delete;

        void open();
        // Whether the job would use up the fair share that a gang of its own project needs.
        bool keeps_share() const;
        MilliGpu gpus() const;
        // One bit each; nothing when they are too many for that.
        std::optional<std::uint64_t> which() const;

      private:
        Backfill& backfill_;
        const cluster::Job& job_;
        bool is_let_pass_;
        base::SmallVector<std::size_t, 8> opened_;
        bool is_open_ = false;
    };

  private:
    struct Entry {
        model::BackfillReservation reservation;
        std::vector<model::TaskPlacement> taken;  // what is taken for it now
        int widest = 0;  // the most GPUs that idle or are kept on a node of those
    };
    std::span<const Entry> entries() const { return std::span(entries_).first(count_); }
    Entry& add();
    void find_longest_waiting();

    void keep(Entry& entry);
    void look_at_widest();
    bool is_kept_from(const Entry& entry, const cluster::Job& job) const;
    bool comes_before(const cluster::Job& job, const cluster::Job& entry) const;
    bool ends_before(const cluster::Job& job, TimePoint time) const;

    void change_at(TimePoint time);

    const PoolView* view_ = nullptr;
    TaskWindows where_;
    std::vector<const cluster::Job*> waiting_;  // gangs that may reserve, the oldest first
    std::vector<Entry> entries_;  // those in use, then those whose memory is kept
    std::size_t count_ = 0;  // in use
    std::optional<std::uint64_t> widest_mark_;  // in the log of capacity, when those were seen
    int widest_ = 0;  // of all
    std::optional<TimePoint> next_change_;
};

}  // namespace berth::scheduling
