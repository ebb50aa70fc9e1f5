// SPDX-License-Identifier: Apache-2.0
//
// What does a decision leave for the next one? Nothing that a decision depends on: with a cache and
// without one it makes the same plan. It saves looking again at work that did not change since, and
// asking for memory: what one decision needed serves the next.
//
// A cache belongs to one cluster: copies of a cluster need one each.
#pragma once

#include <deque>
#include <memory_resource>

#include "scheduling/backfill/bookings.h"
#include "scheduling/order/queue_order.h"
#include "scheduling/passes/promises.h"
#include "scheduling/rights/freeable.h"
#include "scheduling/room/victims.h"

namespace berth::scheduling {

class DecisionCache {
  public:
    struct Pool {
        VictimSearch victims;
        Freeable freeable;
        QueueMemory queue;  // who waits, in order
        Bookings bookings;
        Shares shares;  // room for the next ones
    };
    Pool& pool(PoolId pool) {
        while (pools_.size() <= pool.index()) pools_.emplace_back();
        return pools_[pool.index()];
    }
    // For another cluster.
    void forget() {
        pools_.clear();
        node_seats_ = {};
        promises_ = {};
    }
    // When those GPUs come free that could be booked.
    NodeSeats& node_seats() { return node_seats_; }
    PromiseWatch& promises() { return promises_; }
    // For sets and maps that a decision makes.
    std::pmr::memory_resource* nodes() { return &nodes_; }

  private:
    std::deque<Pool> pools_;
    NodeSeats node_seats_;
    PromiseWatch promises_;
    std::pmr::unsynchronized_pool_resource nodes_;
};

}  // namespace berth::scheduling
