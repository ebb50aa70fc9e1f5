// SPDX-License-Identifier: Apache-2.0
//
// What does a replay by the core know of a job that was submitted and has not ended, and of what it
// foresees for it? And which GPU is which, as nodes come.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "cluster/cluster.h"
#include "simulation/trace/trace.h"

namespace berth::simulation {

struct LiveJob {
    bool runs = false;
    TimePoint since;  // of this interval
    TimePoint asked;  // to leave
    Duration restart{};  // what this interval begins with
    Duration left{};  // work, at `since`
    int turn = 0;  // intervals and requests to leave, so that what was foreseen earlier is void
};

struct Due {
    enum class What { End, Left };

    TimePoint at;
    std::int32_t job = 0;
    int turn = 0;
    What what = What::End;

    bool operator>(const Due& other) const {
        return std::tie(at, job) > std::tie(other.at, other.job);
    }
};

// The GPUs of nodes that are ready as they come, numbered through.
class GpuNumbers {
  public:
    void number(std::span<const cluster::NodeState> nodes) {
        while (first_.size() < nodes.size()) {
            const cluster::NodeState& node = nodes[first_.size()];
            first_.push_back(count_);
            if (node.health == model::NodeHealth::Ready) count_ += node.gpus;
        }
    }
    void add_to(std::vector<std::int32_t>& gpus, const model::TaskPlacement& task) const {
        for (std::uint64_t mask = task.gpu_mask; mask != 0; mask &= mask - 1) {
            gpus.push_back(first_[task.node.index()] + std::countr_zero(mask));
        }
    }

  private:
    std::vector<std::int32_t> first_;  // of each node
    std::int32_t count_ = 0;
};

}  // namespace berth::simulation
