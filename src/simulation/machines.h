// SPDX-License-Identifier: Apache-2.0
//
// Which GPUs does a job get? GPUs are numbered through all nodes. By Count any free ones will do:
// the rule of the released simulators. By Nodes a job that fits on one node stands on one, the
// fullest that can take it; a wider one takes whole nodes, the rest of it likewise. By Profile so
// do those that lose speed when they are spread; all others take what is left over, from the
// fullest nodes (Tiresias, Gu et al., NSDI'19, section 3.3, which tells them by the skew of their
// tensors).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::simulation {

enum class Placement { Count, Nodes, Profile };

// What one job wants of its GPUs.
enum class Stand { Anywhere, Together };

struct Machines {
    std::int32_t nodes = 1;
    std::int32_t gpus_per_node = 8;

    std::int32_t gpus() const { return nodes * gpus_per_node; }
};

using GpuList = std::vector<std::int32_t>;

// Over more nodes than as many GPUs need.
bool is_spread(std::span<const std::int32_t> gpus, Machines machines);

// What is free; O(nodes + GPUs taken) a question.
class FreeGpus {
  public:
    FreeGpus(Machines machines, Placement placement);

    Machines machines() const { return machines_; }
    Placement placement() const { return placement_; }
    std::int32_t count() const { return count_; }
    bool is_free(std::int32_t gpu) const { return free_[static_cast<std::size_t>(gpu)] != 0; }
    std::span<const std::int32_t> on_nodes() const { return free_on_node_; }
    // The GPUs it takes; empty, and nothing taken, when they do not fit.
    GpuList take(std::int32_t gpus, Stand stand);
    // These very ones; all free before.
    void take_these(std::span<const std::int32_t> gpus);
    void give_back(std::span<const std::int32_t> gpus);

  private:
    GpuList take_anywhere(std::int32_t gpus);
    void take_on(std::int32_t node, std::int32_t gpus, GpuList& taken);
    // The node with the fewest free GPUs that has as many as `gpus`; -1 when there is none.
    std::int32_t fullest_node_with(std::int32_t gpus) const;
    void set(std::int32_t gpu, bool is_free);

    Machines machines_;
    Placement placement_;
    std::int32_t count_;
    std::vector<char> free_;
    std::vector<std::int32_t> free_on_node_;
};

}  // namespace berth::simulation
