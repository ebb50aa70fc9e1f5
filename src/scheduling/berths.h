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

// Who uses the GPUs of nodes that were looked at, kept from one decision to the next.
class NodeUsers {
  public:
    struct User {
        JobId job;
        std::uint64_t gpus = 0;
        Run run;
    };
    // Those that were not asked to leave, by id.
    std::span<const User> on(const cluster::Cluster& cluster, NodeId node);

  private:
    struct Known {
        std::optional<std::uint32_t> stamp;  // of the node
        base::SmallVector<User, 8> users;
    };
    std::vector<Known> known_;  // by node
};

class Berths {
  public:
    // Makes it ready for a decision, which view and users outlive.
    void open(const PoolView& view, NodeUsers& node_users);

    // The best ones for the whole gang beside what is `booked` already, the best first; none when
    // there are not enough. Valid until the next question.
    std::span<const Berth> best_for(const cluster::Job& job,
                                    std::span<const model::TaskPlacement> booked);
    // The first declared end of those that were looked at.
    std::optional<TimePoint> next_end() const { return next_end_; }

  private:
    // One GPU that could be booked: whoever uses it is gone then.
    struct Seat {
        int gpu = 0;
        int unknown = 0;  // users that have not declared their end
        TimePoint free_at;

        auto key() const { return std::tuple(unknown, free_at, gpu); }
    };
    // Who leaves a GPU when, unknown to anybody.
    struct User {
        int gpu = 0;
        JobId job;
    };
    // The GPUs of a node that become free some day and are not promised already, the best first.
    struct Node {
        std::span<const Seat> seats;
        std::span<const User> unknown;
    };
    // Where what is known of a node begins, and how much it is.
    struct Range {
        std::uint32_t first_seat = 0;
        std::uint32_t first_user = 0;
        std::uint32_t seats = 0;
        std::uint32_t users = 0;
    };
    // All of one shape, as if nothing were booked.
    struct OfShape {
        ShapeId shape;
        std::size_t nodes_max = 0;
        std::vector<NodeId> nodes;  // that were looked at, ascending
        std::vector<Berth> best_first;
    };
    const OfShape& of_shape(const cluster::Job& job);
    void find_nodes_to_look_at(OfShape& of) const;
    Node on(NodeId node);
    void look_at(NodeId node);
    // Adds those of one node.
    void add(std::vector<Berth>& found, ShapeId shape, NodeId node,
             std::span<const model::TaskPlacement> booked);
    static int count_unknown(const Node& node, std::uint64_t mask);

    const PoolView* view_ = nullptr;
    NodeUsers* node_users_ = nullptr;
    std::vector<std::uint32_t> at_;  // by node: position in ranges_, kUnseen
    std::vector<Range> ranges_;
    std::vector<Seat> seats_;
    std::vector<User> users_;
    std::vector<Seat> left_;  // of the node that is added
    std::vector<OfShape> of_shapes_;  // those in use, then those whose memory is kept
    std::size_t shapes_ = 0;  // in use
    std::vector<NodeId> booked_nodes_;  // for the gang
    std::vector<Berth> beside_;  // on them
    std::vector<Berth> best_;
    std::optional<TimePoint> next_end_;
};

}  // namespace berth::scheduling
