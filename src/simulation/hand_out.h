// SPDX-License-Identifier: Apache-2.0
//
// Who gets GPUs now, each its own? Greedily in order of rank: the first job takes what it asks,
// then the next that fits, and so on. A running job that gets nothing is paused. By Nodes a running
// job keeps its very GPUs or, when somebody before it needs them, moves: it is paused and starts
// elsewhere. share.h does the same where jobs may share.
//
// Guarantees: the result is that of one pass over all jobs in order of rank. Most of the time no
// pass is made: when the first waiting job of each GPU count finds neither free GPUs nor enough
// running jobs behind it, nothing changes.
// Cost: O(running + GPU counts) then, else O((running + started) x (log + GPU counts)).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "ordering/order.h"
#include "simulation/machines.h"
#include "simulation/mix.h"

namespace berth::simulation {

struct Ranked {
    ordering::Rank rank;
    ordering::Ticket job = 0;

    auto operator<=>(const Ranked&) const = default;
};

// What decides whether a job fits.
struct Ask {
    std::int32_t gpus = 1;
    Stand stand = Stand::Anywhere;
    Mixes::Kind kind = 0;  // matters only where GPUs are shared

    auto operator<=>(const Ask&) const = default;
};

// Waiting jobs by what they ask, each queue in order of rank: when the first of a queue does not
// fit, none of it does.
using Queues = std::map<Ask, std::set<Ranked>>;

struct Holder {
    Ranked who;
    const Ask* ask = nullptr;
    const GpuList* gpus = nullptr;
    std::size_t group = 0;  // the same number for all that share these GPUs
};

struct Start {
    ordering::Ticket job = 0;
    Ask ask;
    GpuList gpus;
    // The GPUs are those of this one, who runs or starts earlier in the list.
    ordering::Ticket beside = kNobody;

    static constexpr ordering::Ticket kNobody = -1;
};

// Both in order of rank; who moves is in both.
struct HandOut {
    std::vector<Start> started;
    std::vector<ordering::Ticket> paused;
};

// `running` is asked for at most once. `free` is kept in step with the result.
HandOut hand_out(const Queues& queues, const std::function<std::vector<Holder>()>& running,
                 ordering::Order::Habits habits, FreeGpus& free);

}  // namespace berth::simulation
