// SPDX-License-Identifier: Apache-2.0
//
// What are the GPUs of each pool and model used for now, and how long were those used that no job
// has? A place is the GPUs of one model in one pool. Cost: of a change, O(nodes that change).
#pragma once

#include <string>
#include <vector>

#include "ledger/rows.h"

namespace berth::ledger {

struct NodeGpus {
    PoolId pool;
    std::string pool_name;
    std::string model;
    int gpus = 0;
    int others = 0;  // of them: used by programs outside Berth
    bool is_ready = true;

    bool operator==(const NodeGpus&) const = default;
};

// So much of a node's GPUs is a job's, or promised to it.
struct Charge {
    NodeId node;
    GpuUse use = GpuUse::NotMeasured;
    std::int64_t milli = 0;

    bool operator==(const Charge&) const = default;
};
using Charges = std::vector<Charge>;

class Places {
  public:
    // Whether set() puts GPUs into another place that were in one.
    bool moves(NodeId id, const NodeGpus& gpus) const;
    void set(NodeId id, const NodeGpus& gpus, const Moment& now);
    // A job has them from now on (sign +1), or no more (-1); it is promised them.
    void charge(const Charges& used, std::int64_t sign, const Moment& now);
    void promise(const Charges& promised, std::int64_t sign, const Moment& now);
    // What free GPUs of the pool are.
    void set_free(PoolId pool, GpuUse use, const Moment& now);
    void settle(const Moment& now);
    void forget_until(TimePoint time);

    std::size_t place_of(NodeId id) const { return nodes_[id.index()].place; }
    LineId line_of(std::size_t place) const { return places_[place].line; }
    // In thousandths of GPUs.
    GpuTimes uses() const;

  private:
    struct Sums {
        std::int64_t total = 0;
        std::int64_t jobs = 0;
        std::int64_t starting = 0;  // of those of jobs
        std::int64_t leaving = 0;  // of those of jobs
        std::int64_t promised = 0;  // to jobs; others may have them still
        std::int64_t others = 0;
        std::int64_t unready = 0;
    };
    struct Node {
        NodeGpus gpus;
        std::size_t place = 0;
        bool is_known = false;
        Sums sums;  // those of jobs are kept, the others follow
    };
    struct Place {
        PoolId pool;
        LineId line = 0;
        Sums sums;
        GpuUse free = GpuUse::Free;
        TimePoint settled;
    };

    std::size_t find_or_add(const NodeGpus& gpus, const Moment& now);
    template <typename Do>
    void change(Node& node, const Moment& now, Do&& change);
    static void settle(Place& place, const Moment& now);
    static GpuTimes uses_of(const Place& place);

    std::vector<Place> places_;
    std::vector<Node> nodes_;
};

}  // namespace berth::ledger
