// SPDX-License-Identifier: Apache-2.0
//
// When can a gang start that has waited long, where, and who may use its idle GPUs until then?
// Conservative backfill. Without it a job of eight GPUs never starts behind a stream of small ones,
// each of which takes the GPU that the last one left (example E16).
//
//   who books   a job of several whole GPUs, in no required domain, that has waited booking_after,
//               that quotas and limits allow to start, and that comes first among the jobs like it;
//               where jobs are told apart by ranks, first of its project; at most bookings_max, the
//               oldest first, in the first pool they name
//   where       on the GPUs in whose way stand the fewest jobs that have not declared how long they
//               run; then on those that are free first by what was declared; then on the first
//               nodes. Whatever others do, the booked GPUs only get better by this measure: who has
//               not declared when he ends may not start there. So a booking ends in a start as soon
//               as the jobs in its way do, and does not wander. (Age alone would favour whoever
//               started last: the longer a job has run, the longer it is expected to.)
//   when        each job in the way ends when it has declared to; one that has not, or has run
//               longer, runs as long again as it has, at least a minute. Services do not end.
//   who may     use the idle ones: jobs as large or larger, which take their turn; jobs that by
//               what they declared end before the booking begins; jobs the booked one has to give
//               way to: a project within its quota where the booked job's is not, within its fair
//               share likewise, older ones, and in its own project those of higher priority, those
//               within the share if the gang is larger than it, and, where jobs are told apart by
//               ranks, all that may be paused: it is not for a booking to hold GPUs against those
//   and share   the project's own later jobs also leave it so much of its fair share as the gang
//               needs: who has spent his share on small jobs would have no right to the large one
//
// A pure function of the cluster and the present: booked anew by every decision. Only GPUs are
// kept, not the CPU beside them. Cost: looks at most at kBookingNodes nodes, those with the most
// idle GPUs, and the jobs on them; O(bookings) for each job that is asked about.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/small_vector.h"
#include "model/plan.h"
#include "scheduling/backfill/berths.h"

namespace berth::scheduling {

class Bookings {
  public:
    // Each of these makes it ready for a decision, which the view outlives, and keeps the idle
    // part: in both views of the cluster it is taken, inside the caller's Trial.
    void book(const PoolView& view, NodeSeats& seats);
    // Those that an earlier try at the same decision has made.
    void keep_again(const PoolView& view);
    // Those that a plan has made.
    void take_over(const PoolView& view, std::span<const model::Booking> made);

    bool empty() const { return count_ == 0; }
    // When time alone may book otherwise, or let others use what is kept: a gang has waited long
    // enough, a job has run longer than declared, one that waits ends before the booking begins.
    std::optional<TimePoint> next_change() const { return next_change_; }
    // `before`, and those of jobs that go on waiting for somebody's end.
    std::vector<model::Booking> still_waiting(std::vector<model::Booking> before = {}) const;
    // Whether the job would use up the share that a booked one of its own project needs.
    bool keep_share_from(const cluster::Job& job) const;
    // How many GPUs are kept idle now, and whether the job could be given any of them.
    MilliGpu kept() const;
    bool could_open_for(const cluster::Job& job) const;

    // While it lives, the job can be given what is kept from others and not from it.
    class Opening {
      public:
        Opening(Bookings& bookings, const cluster::Job& job);
        ~Opening();
        Opening(const Opening&) = delete;
        Opening& operator=(const Opening&) = delete;

        // What was opened, one bit each; nothing when they are too many for that.
        std::optional<std::uint64_t> which() const;
        // Where something was opened.
        using Nodes = base::SmallVector<NodeId, 32>;
        Nodes nodes() const;

      private:
        Bookings& bookings_;
        base::SmallVector<std::size_t, 8> opened_;
    };

  private:
    struct Booked {
        model::Booking booking;
        std::vector<model::TaskPlacement> kept;  // what is taken for it now
    };
    std::span<const Booked> booked() const { return std::span(slots_).first(count_); }
    Booked& add();
    void find_longest_waiting();

    void keep(Booked& booked) const;
    bool is_kept_from(const Booked& booked, const cluster::Job& job) const;
    bool comes_before(const cluster::Job& job, const cluster::Job& booked) const;
    bool ends_before(const cluster::Job& job, TimePoint time) const;

    void change_at(TimePoint time);

    const PoolView* view_ = nullptr;
    Berths where_;
    std::vector<const cluster::Job*> waiting_;  // those that may book, the oldest first
    std::vector<Booked> slots_;  // those in use, then those whose memory is kept
    std::size_t count_ = 0;  // in use
    std::optional<TimePoint> next_change_;
};

}  // namespace berth::scheduling
