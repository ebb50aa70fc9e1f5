// SPDX-License-Identifier: Apache-2.0
//
// Who gets GPUs now, each its own? Greedily in order of rank: the first job takes what it asks,
// then the next that fits, and so on. A running job that gets nothing is paused. By Nodes a running
// job keeps its very GPUs or, when a job before it needs them, moves: it is paused and starts
// elsewhere. share.h does the same where jobs may share.
//
// Guarantees: the result is that of one pass over all jobs in order of rank. Made is only the part
// of it that changes something: from the first waiting job on, and of the running jobs the last.
// Cost: O(GPU counts), and where a job may have to be paused O(GPUs asked) by Count, by Nodes that
// of room.h for each that starts.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "reference/order.h"
#include "simulation/replay/machines.h"
#include "simulation/speed/mix.h"

namespace berth::simulation {

struct Ranked {
    reference::Rank rank;
    reference::JobIndex job = 0;

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

// Running jobs from the last in rank to the first, looked up when they are asked for.
class FromLast {
  public:
    // The next one, if it is behind that.
    using Next = std::function<std::optional<Holder>(const Ranked&)>;

    explicit FromLast(Next next) : next_(std::move(next)) {}

    // Null when no more are behind `first`; until the next question.
    const Holder* behind(const Ranked& first, std::size_t place) {
        while (place >= seen_.size()) {
            const std::optional<Holder> one = next_(first);
            if (!one) return nullptr;
            seen_.push_back(*one);
        }
        return seen_[place].who > first ? &seen_[place] : nullptr;
    }

  private:
    Next next_;
    std::vector<Holder> seen_;
};

struct Start {
    reference::JobIndex job = 0;
    Ask ask;
    GpuList gpus;
    // The GPUs are those of this one, who runs or starts earlier in the list.
    reference::JobIndex beside = kNobody;

    static constexpr reference::JobIndex kNobody = -1;
};

// Both in order of rank; who moves is in both.
struct HandOut {
    std::vector<Start> started;
    std::vector<reference::JobIndex> paused;
};

// `running` is asked for at most once. `free` is kept in step with the result.
HandOut hand_out(const Queues& queues, const std::function<FromLast()>& running,
                 reference::Order::OrderTraits traits, FreeGpus& free);

}  // namespace berth::simulation
