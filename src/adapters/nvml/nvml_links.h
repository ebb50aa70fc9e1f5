// SPDX-License-Identifier: Apache-2.0
//
// How are this machine's GPUs linked, as far as the driver and the kernel tell? NVLink between two
// of them counts as one link of the matrix; else the nearest thing that they share on the way to
// each other. NUMA nodes and network cards are the kernel's, by PCI address (pci_places.h). What
// cannot be read is left out.
#pragma once

#include <span>
#include <string>

#include "adapters/nvml/nvml_library.h"
#include "model/node/gpu_links.h"

namespace berth::nvml {

// `devices` by index; null for one that does not answer.
model::GpuLinks read_links(const Functions& call, std::span<Device* const> devices,
                           const std::string& sys_directory);

}  // namespace berth::nvml
