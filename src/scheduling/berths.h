// SPDX-License-Identifier: Apache-2.0
//
// Where could a gang stand once those in its way have left, and when is that? The measure by which
// bookings choose (bookings.h), for one decision: nothing that runs changes meanwhile.
//
// Cost: looks at most at kBookingNodes nodes, or two for each task, those with the most idle GPUs:
// once for each shape, and once at the jobs on each.
#pragma once

#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "base/small_vector.h"
#include "scheduling/pool_view.h"

namespace berth::scheduling {

inline constexpr std::size_t kBookingNodes = 256;

// Nobody is expected to be gone in less.
inline constexpr model::Duration kShortestRun{60 * 1000};

// What tells when a job leaves its GPUs.
struct Run {
    TimePoint start;
    model::Duration declared{0};  // 0 = not
    bool is_service = false;
};
inline Run run_of(const cluster::Job& job) {
    return {job.last_start, job.expected_runtime, job.kind == model::JobKind::Inference};
}

// When that is: as declared, or, if it has not or runs longer, when it has run as
// long again, at least kShortestRun. Services do not end.
struct End {
    TimePoint time;
    bool is_declared = true;
    bool is_never = false;
};
End end_of(const Run& run, TimePoint now);

// Room for one task.
struct Berth {
    int unknown = 0;  // jobs in its way that have not declared their end
    TimePoint declared;  // free by then, if those unknown are gone
    TimePoint expected;
    NodeId node;
    std::uint64_t mask = 0;

    auto key() const { return std::tuple(unknown, declared, node, mask); }
};

// When the GPUs of nodes come free, kept from one decision to the next.
class NodeSeats {
  public:
    // One GPU that could be booked: whoever uses it is gone then.
    struct Seat {
        int gpu = 0;
        int unknown = 0;  // users that have not declared their end
        TimePoint declared = TimePoint::min();  // by then all others have left
        TimePoint unknown_since = TimePoint::max();  // when the first of those unknown has started

        TimePoint free_at(TimePoint now) const;
    };
    struct User {
        int gpu = 0;
        JobId job;
    };
    struct Node {
        // That become free some day and are not promised already, the best first.
        base::SmallVector<Seat, 8> seats;
        base::SmallVector<User, 8> unknown;  // have not declared their end; by job
        std::optional<TimePoint> next_end;  // the first that was declared
    };
    const Node& on(const PoolView& view, NodeId node);

  private:
    struct Known {
        Node node;
        // As long as these are the node's, and the present is between these.
        std::uint32_t stamp = 0;
        int gpus = 0;
        std::uint64_t whole = 0;
        TimePoint from = TimePoint::max();
        TimePoint until = TimePoint::min();
    };
    // Uses GPUs, and was not asked to leave.
    struct Occupant {
        JobId job;
        std::uint64_t gpus = 0;
        Run run;
    };
    void look_at(const PoolView& view, NodeId node, Known& known);
    void find_occupants(const cluster::Cluster& cluster, NodeId node);

    std::vector<Known> known_;  // by node
    std::vector<Occupant> occupants_;  // of the node that is looked at, by id
};

class Berths {
  public:
    // Makes it ready for a decision, which view and seats outlive.
    void open(const PoolView& view, NodeSeats& seats);

    // The best ones for the whole gang beside what is `booked` already, the best first; none when
    // there are not enough. Valid until the next question.
    std::span<const Berth> best_for(const cluster::Job& job,
                                    std::span<const model::TaskPlacement> booked);
    // The first declared end of those that were looked at.
    std::optional<TimePoint> next_end() const { return next_end_; }

  private:
    // All of one shape, as if nothing were booked.
    struct OfShape {
        ShapeId shape;
        std::size_t nodes_max = 0;
        std::vector<NodeId> nodes;  // that were looked at, ascending
        std::vector<Berth> berths;
        std::size_t sorted = 0;  // so many are the best ones, the best first
    };
    OfShape& of_shape(const cluster::Job& job);
    void find_nodes_to_look_at(OfShape& of) const;
    static void sort_more(OfShape& of, std::size_t count);
    // Adds those of one node.
    void add(std::vector<Berth>& found, ShapeId shape, NodeId node,
             std::span<const model::TaskPlacement> booked);
    static int count_unknown(const NodeSeats::Node& node, std::uint64_t mask);

    const PoolView* view_ = nullptr;
    NodeSeats* seats_ = nullptr;
    std::vector<OfShape> of_shapes_;  // those in use, then those whose memory is kept
    std::size_t shapes_ = 0;  // in use
    std::vector<NodeId> booked_nodes_;  // for the gang
    std::vector<Berth> beside_;  // on them
    std::vector<Berth> best_;
    std::optional<TimePoint> next_end_;
};

}  // namespace berth::scheduling
