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

#include "scheduling/backfill/backfill.h"
#include "scheduling/order/queue_order.h"
#include "scheduling/passes/reservations.h"
#include "scheduling/rights/reclaimable.h"
#include "scheduling/victims/victims.h"

namespace berth::scheduling {

class DecisionCache {
  public:
    struct Pool {
        VictimSearch victims;
        Reclaimable reclaimable;
        QueueMemory queue;  // who waits, in order
        Backfill backfill;
        Shares shares;  // room for the next ones
    };
    Pool& pool(PoolId pool) {
        while (pools_.size() <= pool.index()) pools_.emplace_back();
        return pools_[pool.index()];
    }
    // For another cluster.
    void forget() {
        pools_.clear();
        node_windows_ = {};
        reservations_ = {};
    }
    // When those GPUs come free that could be reserved.
    NodeWindows& node_seats() { return node_windows_; }
    ReservationWatch& reservations() { return reservations_; }
    // For sets and maps that a decision makes.
    std::pmr::memory_resource* nodes() { return &nodes_; }

  private:
    std::deque<Pool> pools_;
    NodeWindows node_windows_;
    ReservationWatch reservations_;
    std::pmr::unsynchronized_pool_resource nodes_;
};

}  // namespace berth::scheduling
