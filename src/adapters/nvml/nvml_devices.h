// SPDX-License-Identifier: Apache-2.0
//
// Which devices can jobs have here, and as which GPU of which node? GPUs that are whole are the
// machine's own node, in the order of the PCI bus. A GPU in MIG mode is none: the slices it is cut
// into are the GPUs of nodes beside it, one for each profile (model/node/mig.h). A slice that
// shares its memory with others (several compute instances in one GPU instance) is not offered.
#pragma once

#include <string>
#include <vector>

#include "adapters/nvml/nvml_library.h"

namespace berth::nvml {

struct PlacedDevice {
    Device* device = nullptr;  // null: it does not answer
    std::string node;
    int index = 0;  // on that node
    std::string profile = {};  // "3g.40gb"; empty = a whole GPU
};

struct Devices {
    std::vector<PlacedDevice> placed;  // whole ones first
    std::vector<std::string> unoffered;  // profiles of slices that no job can have alone
    bool is_any_cut = false;  // so indices of the driver are not those of the node
};

// `total` as nvmlDeviceGetCount_v2 says.
Devices find_devices(const Functions& call, unsigned int total, const std::string& host);

// A text that the library writes into a buffer; empty when it has none.
std::string read_text(int (*get)(Device*, char*, unsigned int), Device* device);

// As the kernel writes it, "0000:3b:00.0"; empty when the driver does not say.
std::string pci_address(const Functions& call, Device* device);

}  // namespace berth::nvml
