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
#include "scheduling/backfill/node_seats.h"

namespace berth::scheduling {

inline constexpr std::size_t kBookingNodes = 256;

// Room for one task.
struct Berth {
    int unknown = 0;  // jobs in its way that have not declared their end
    TimePoint declared;  // free by then, if those unknown are gone
    TimePoint expected;
    NodeId node;
    std::uint64_t mask = 0;

    auto key() const { return std::tuple(unknown, declared, node, mask); }
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
