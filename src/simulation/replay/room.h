// SPDX-License-Identifier: Apache-2.0
//
// On which GPUs does a job stand at the least harm to those behind it? By Nodes or Profile, in one
// pass over jobs in order of rank: on those that idle, then on those of the last in rank. Among
// nodes equally good that with the fewest that idle.
//
// Cost: O(nodes + GPUs of those behind, from the last on, until there is room); for a job that may
// be spread O(GPUs).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "simulation/replay/machines.h"

namespace berth::simulation {

class Room {
  public:
    // The GPUs of running jobs behind the one in question: at 0 those of the last in rank, then of
    // the one before it; null when there are no more.
    using Behind = std::function<const GpuList*(std::size_t)>;

    // `free` has the unused GPUs, also those given back in the course of the pass.
    explicit Room(const FreeGpus& free);

    // No job has taken any of them in this pass.
    bool is_open(std::span<const std::int32_t> gpus) const;
    // Together: on one node, a wider job on whole nodes and the rest likewise. Those behind hold
    // GPUs of this model. Empty, and nothing taken, when it does not fit.
    GpuList take(std::int32_t gpus, Stand stand, const Behind& behind, std::size_t model = 0);

  private:
    struct Choice {
        std::int32_t turn;
        std::int32_t gpu;
        auto operator<=>(const Choice&) const = default;
    };

    std::int32_t node_of(std::int32_t gpu) const { return machines_.node_of(gpu); }
    bool is_taken(std::int32_t gpu) const { return is_taken_[static_cast<std::size_t>(gpu)] != 0; }
    bool is_idle(std::int32_t gpu) const { return free_.is_free(gpu) && !is_taken(gpu); }
    std::vector<std::int32_t> idle_on_nodes() const;
    void take(std::span<const std::int32_t> gpus);
    void put_back(std::span<const std::int32_t> last_taken);
    // Empty when there is none.
    GpuList choose_on_a_node(std::int32_t gpus, const Behind& behind, std::size_t model) const;
    GpuList choose_anywhere(std::int32_t gpus, const Behind& behind, std::size_t model) const;

    const FreeGpus& free_;
    const Machines& machines_;
    std::vector<char> is_taken_;
    std::vector<std::int32_t> taken_;
};

}  // namespace berth::simulation
