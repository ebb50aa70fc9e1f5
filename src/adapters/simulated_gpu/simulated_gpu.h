// SPDX-License-Identifier: Apache-2.0
//
// Which GPUs would there be? Those that a text describes, parts joined by "x", outermost first:
//   sim:8x80G          one node, named by the caller, with 8 GPUs of 80 GiB
//   sim:64x8x80G       64 nodes n0 .. n63 of 8 GPUs each
//   sim:8xH100:80G     the GPUs say they are H100
//   sim:8              GPUs that do not say what memory they have
// CPU and host memory are not accounted. Nothing is measured: readings say so.
#pragma once

#include <string_view>

#include "ports/gpu_inventory.h"

namespace berth::simulated_gpu {

class SimulatedGpus final : public ports::GpuInventory {
  public:
    // `spec` as above, with or without "sim:"; `only` names a single node.
    // Errors: Invalid, saying which part.
    static base::Result<SimulatedGpus> parse(std::string_view spec, std::string only);

    base::Result<std::vector<model::Node>> discover() override { return nodes_; }
    base::Result<std::vector<ports::GpuReading>> read() override;
    bool is_simulated() const override { return true; }

  private:
    explicit SimulatedGpus(std::vector<model::Node> nodes) : nodes_(std::move(nodes)) {}

    std::vector<model::Node> nodes_;
};

}  // namespace berth::simulated_gpu
