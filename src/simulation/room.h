// SPDX-License-Identifier: Apache-2.0
//
// On which GPUs does a job stand at the least harm to those behind it? One pass over all jobs in
// order of rank, by Nodes or Profile: GPUs that somebody before has taken are gone; among the rest
// a job takes those that idle, then those of the running jobs with the latest turn. Among nodes
// equally good that with the fewest that idle.
//
// Cost: O(GPUs) for a job that does not simply stay.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "simulation/machines.h"

namespace berth::simulation {

class Room {
  public:
    explicit Room(Machines machines);

    // These GPUs are held by a running job, whose turn comes later: `turn` counts up.
    void occupy(std::span<const std::int32_t> gpus, std::int32_t turn) { mark(gpus, turn); }
    // Their holder is paused; what nobody before it has taken idles.
    void vacate(std::span<const std::int32_t> gpus);
    // Takes these; false, and nothing taken, when somebody before has one of them.
    bool keep(std::span<const std::int32_t> gpus);
    // Together: on one node, a wider job on whole nodes and the rest likewise. Empty when it does
    // not fit.
    GpuList take(std::int32_t gpus, Stand stand);

  private:
    static constexpr std::int32_t kTaken = -1;
    static constexpr std::int32_t kIdle = std::numeric_limits<std::int32_t>::max();

    std::span<std::int32_t> node(std::int32_t number);
    std::int32_t open_on(std::int32_t node) const { return open_[static_cast<std::size_t>(node)]; }
    void mark(std::span<const std::int32_t> gpus, std::int32_t turn);
    void take(std::span<const std::int32_t> gpus);
    GpuList take_together(std::int32_t gpus);
    GpuList take_anywhere(std::int32_t gpus);
    // There is a node with as many that are not taken.
    void take_on_a_node(std::int32_t gpus, GpuList& taken);

    Machines machines_;
    std::vector<std::int32_t> turns_;  // of each GPU's holder, kIdle or kTaken
    std::vector<std::int32_t> open_;  // of each node, GPUs that are not taken
};

}  // namespace berth::simulation
