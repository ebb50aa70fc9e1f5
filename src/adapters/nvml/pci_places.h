// SPDX-License-Identifier: Apache-2.0
//
// Where do PCI devices stand on this machine, as the kernel shows it below /sys? The NUMA node of
// each, and the network card beside it: of the cards that can reach memory of GPUs (RDMA), the one
// that shares most of the way to the processor. On equal ways cards are dealt out, in the order of
// their names. A card behind another host bridge belongs to no GPU. What cannot be read is -1.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace berth::nvml {

inline constexpr const char* kSysDirectory = "/sys";

struct PciPlaces {
    std::vector<int> numa;  // by device
    std::vector<int> nics;  // by device: the card's number by name
};

// `addresses` as the kernel writes them, "0000:3b:00.0"; empty where they are not known.
PciPlaces read_pci_places(std::span<const std::string> addresses, const std::string& sys_directory);

}  // namespace berth::nvml
