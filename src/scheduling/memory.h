// SPDX-License-Identifier: Apache-2.0
//
// What does a decision leave for the next one? Nothing that a decision depends on: with a memory
// and without it makes the same plan. It only saves looking again at work that did not change
// since.
//
// A memory belongs to one cluster: copies of a cluster need one each.
#pragma once

#include <deque>

#include "scheduling/berths.h"
#include "scheduling/pieces.h"
#include "scheduling/queue_order.h"

namespace berth::scheduling {

class Memory {
  public:
    // The running work of a pool, cut for victims.
    PieceTable& pieces(PoolId pool) {
        while (pieces_.size() <= pool.index()) pieces_.emplace_back();
        return pieces_[pool.index()];
    }

    // Who waits in a pool, in order.
    QueueMemory& queue(PoolId pool) {
        while (queues_.size() <= pool.index()) queues_.emplace_back();
        return queues_[pool.index()];
    }

    // Who uses GPUs that could be booked.
    NodeUsers& node_users() { return node_users_; }

  private:
    NodeUsers node_users_;
    std::deque<PieceTable> pieces_;  // by pool
    std::deque<QueueMemory> queues_;  // by pool
};

}  // namespace berth::scheduling
