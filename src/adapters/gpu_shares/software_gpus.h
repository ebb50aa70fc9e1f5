// SPDX-License-Identifier: Apache-2.0
//
// How do the GPUs of a simulated node look to programs? As the software driver describes them
// (vgpu/device/configuration.h): a file for each node, with all its GPUs.
#pragma once

#include <string>
#include <vector>

#include "adapters/gpu_shares/tenants.h"

namespace berth::gpu_shares {

// Gives each GPU the identity that programs will see, writes the description of each node into the
// directory, and says what a context takes of a GPU.
void describe_software_gpus(const std::string& directory, std::vector<Gpu>& gpus);

// The file of that node; not there for one with more GPUs than can be simulated so.
std::string description_path(const std::string& directory, const std::string& node);

}  // namespace berth::gpu_shares
