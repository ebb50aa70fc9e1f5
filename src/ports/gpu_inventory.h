// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/node/node.h"

namespace berth::ports {

// What one GPU does right now. Fields that could not be measured are negative.
struct GpuReading {
    std::string node;
    int index = 0;
    std::string uuid;
    std::string visible_as = {};  // in CUDA_VISIBLE_DEVICES; empty = as its index
    std::string pci_address = {};  // as the kernel writes it, "0000:3b:00.0"; empty = not known
    bool takes_one_process = false;  // the driver lets only one on it (compute mode)
    int utilization_percent = -1;
    base::Bytes memory_used{-1};
    int power_watts = -1;
    bool healthy = true;
};

// Which GPUs there are.
class GpuInventory {
  public:
    virtual ~GpuInventory() = default;
    // Errors: Unavailable, saying what is missing (driver, library).
    virtual base::Result<std::vector<model::Node>> discover() = 0;
    // On any thread, one at a time.
    virtual base::Result<std::vector<GpuReading>> read() = 0;
    // Its GPUs are made up: so is what they do.
    virtual bool is_simulated() const { return false; }
    // The driver's release, "580.65.06"; empty where there is none.
    virtual std::string driver() { return {}; }
};

}  // namespace berth::ports
