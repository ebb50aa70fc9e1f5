// SPDX-License-Identifier: Apache-2.0
//
// How do the GPUs of a simulated node look to programs? As the software driver describes them
// (vgpu/device/configuration.h): a file for each node, with all its GPUs.
#pragma once

#include <string>
#include <vector>

#include "adapters/gpu_shares/terms/tenants.h"

namespace berth::gpu_shares {

// Gives each GPU the identity that programs will see.
void identify_software_gpus(std::vector<Gpu>& gpus);

// Writes down the GPUs of that node, in a file of the directory. Returns its path; empty for a node
// with more GPUs than can be simulated so.
std::string describe_software_gpus(const std::string& directory, const std::string& node,
                                   const std::vector<Gpu>& gpus);

// What was written down of them, and what is in their memory.
void remove_software_gpus(const std::string& directory);

}  // namespace berth::gpu_shares
