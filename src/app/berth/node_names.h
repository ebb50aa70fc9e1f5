// SPDX-License-Identifier: Apache-2.0
//
// Under which names does the cluster know the nodes of this machine? A node keeps its GPU count for
// ever: one that was changed, or cut into other slices, goes on under a new name, "host-2".
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cluster/cluster.h"
#include "ports/gpu_inventory.h"

namespace berth::app {

class NamedNodes final : public ports::GpuInventory {
  public:
    // Asks the inventory once. Errors: what it answers.
    static base::Result<std::unique_ptr<NamedNodes>> make(
        std::unique_ptr<ports::GpuInventory> inventory, const cluster::Cluster& cluster);

    base::Result<std::vector<model::Node>> discover() override;
    base::Result<std::vector<ports::GpuReading>> read() override;
    std::string driver() override { return inventory_->driver(); }
    bool is_simulated() const override { return inventory_->is_simulated(); }

  private:
    std::unique_ptr<ports::GpuInventory> inventory_;
    std::mutex reading_;
    std::map<std::string, std::string> names_;  // the inventory's -> the cluster's
};

}  // namespace berth::app
