// SPDX-License-Identifier: Apache-2.0
//
// Which GPUs does a job get, of one model? GPUs are numbered through all nodes. By Count any free
// ones will do: the rule of the released simulators. By Nodes a job that fits on one node stands on
// one, the fullest that can take it; a wider one takes whole nodes, the rest of it likewise. By
// Profile so do those that lose speed when they are spread; all others take what is left over, from
// the fullest nodes (Tiresias, Gu et al., NSDI'19, section 3.3, which tells them by the skew of
// their tensors).
#pragma once

#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <vector>

namespace berth::simulation {

enum class Placement { Count, Nodes, Profile };

// What one job wants of its GPUs.
enum class Stand { Anywhere, Together };

// Nodes alike, all there are with GPUs of one model.
struct NodesAlike {
    std::int32_t nodes = 1;
    std::int32_t gpus_per_node = 8;
    std::string model = {};

    std::int32_t gpus() const { return nodes * gpus_per_node; }
};

// Models, nodes and GPUs are numbered from 0, each through all before it.
class Machines {
  public:
    using Numbers = std::ranges::iota_view<std::int32_t, std::int32_t>;

    Machines(std::int32_t nodes, std::int32_t gpus_per_node);
    explicit Machines(std::vector<NodesAlike> models);

    std::span<const NodesAlike> models() const { return models_; }
    std::int32_t gpus() const { return gpus_; }
    std::int32_t nodes() const { return nodes_; }
    std::int32_t gpus_per_node(std::size_t model) const { return models_[model].gpus_per_node; }
    Numbers gpus_of(std::size_t model) const;
    Numbers nodes_of(std::size_t model) const;
    Numbers gpus_on(std::int32_t node) const;
    std::size_t model_of(std::int32_t gpu) const;
    std::int32_t node_of(std::int32_t gpu) const;

  private:
    struct First {
        std::int32_t node = 0;
        std::int32_t gpu = 0;
    };

    std::vector<NodesAlike> models_;
    std::vector<First> first_of_;
    std::int32_t nodes_ = 0;
    std::int32_t gpus_ = 0;
};

using GpuList = std::vector<std::int32_t>;

// Over more nodes than as many GPUs need.
bool is_spread(std::span<const std::int32_t> gpus, const Machines& machines);

// What is free; O(nodes + GPUs taken) a question.
class FreeGpus {
  public:
    FreeGpus(const Machines& machines, Placement placement);

    const Machines& machines() const { return machines_; }
    Placement placement() const { return placement_; }
    std::int32_t count() const { return count_; }
    std::int32_t count_of(std::size_t model) const { return count_of_[model]; }
    bool is_free(std::int32_t gpu) const { return free_[static_cast<std::size_t>(gpu)] != 0; }
    std::span<const std::int32_t> on_nodes() const { return free_on_node_; }
    // The GPUs it takes; empty, and nothing taken, when they do not fit.
    GpuList take(std::int32_t gpus, Stand stand, std::size_t model = 0);
    // These very ones; all free before.
    void take_these(std::span<const std::int32_t> gpus);
    void give_back(std::span<const std::int32_t> gpus);

  private:
    GpuList take_anywhere(std::int32_t gpus, std::size_t model);
    void take_on(std::int32_t node, std::int32_t gpus, GpuList& taken);
    // The node with the fewest free GPUs that has as many as `gpus`; -1 when there is none.
    std::int32_t fullest_node_with(std::int32_t gpus, std::size_t model) const;
    void set(std::int32_t gpu, bool is_free);

    Machines machines_;
    Placement placement_;
    std::int32_t count_;
    std::vector<std::int32_t> count_of_;
    std::vector<char> free_;
    std::vector<std::int32_t> free_on_node_;
};

}  // namespace berth::simulation
