// SPDX-License-Identifier: Apache-2.0
//
// Which GPUs would there be? Those that a text describes, parts joined by "x", outermost first:
//   sim:8x80G          one node, named by the caller, with 8 GPUs of 80 GiB
//   sim:64x8x80G       64 nodes n0 .. n63 of 8 GPUs each
//   sim:8xH100:80G     the GPUs say they are H100
//   sim:8              GPUs that do not say what memory they have
// CPU and host memory are not accounted. What a GPU does is what programs on it say, each in a file
// of its own, NODE.INDEX.PID: the part of the time that its kernels ran, and of the memory that it
// uses, in percent. Without such a file readings say that nothing was measured.
#pragma once

#include <string_view>

#include "ports/gpu_inventory.h"

namespace berth::simulated_gpu {

class SimulatedGpus final : public ports::GpuInventory {
  public:
    // `spec` as above, with or without "sim:"; `only` names a single node, `counters` the folder of
    // the files; it need not be there.
    // Errors: Invalid, saying which part.
    static base::Result<SimulatedGpus> parse(std::string_view spec, std::string only,
                                             std::string counters = {});

    base::Result<std::vector<model::Node>> discover() override { return nodes_; }
    base::Result<std::vector<ports::GpuReading>> read() override;
    bool is_simulated() const override { return true; }

  private:
    SimulatedGpus(std::vector<model::Node> nodes, std::string counters)
        : nodes_(std::move(nodes)), counters_(std::move(counters)) {}

    std::vector<model::Node> nodes_;
    std::string counters_;
};

}  // namespace berth::simulated_gpu
