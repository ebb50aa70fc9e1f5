// SPDX-License-Identifier: Apache-2.0
#include "adapters/nvml/nvml_links.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <optional>

namespace berth::nvml {
namespace {

// The word of the matrix for two GPUs; nothing when the driver does not say.
std::optional<std::string> link_word(const Functions& call, Device* one, Device* other) {
    if (one == nullptr || other == nullptr) return {};
    int status = 0;
    if (call.nvmlDeviceGetP2PStatus != nullptr &&
        call.nvmlDeviceGetP2PStatus(one, other, kP2pByNvLink, &status) == kSuccess &&
        status == kP2pOk) {
        return "NV1";
    }
    int level = 0;
    if (call.nvmlDeviceGetTopologyCommonAncestor == nullptr ||
        call.nvmlDeviceGetTopologyCommonAncestor(one, other, &level) != kSuccess) {
        return {};
    }
    // The levels of nvmlGpuTopologyLevel_t.
    if (level <= 10) return "PIX";
    if (level <= 20) return "PXB";
    if (level <= 30) return "PHB";
    return level <= 40 ? "NODE" : "SYS";
}

// -1 when nobody says.
int numa_node(const Functions& call, Device* device, const std::string& pci_directory) {
    PciInfo info;
    if (device == nullptr || call.nvmlDeviceGetPciInfo_v3 == nullptr ||
        call.nvmlDeviceGetPciInfo_v3(device, &info) != kSuccess) {
        return -1;
    }
    // The driver writes eight digits of the domain, the kernel four, and small letters.
    std::string address = info.bus_id;
    if (const auto colon = address.find(':'); colon != std::string::npos && colon > 4) {
        address.erase(0, colon - 4);
    }
    std::ranges::transform(address, address.begin(),
                           [](unsigned char letter) { return std::tolower(letter); });
    int node = -1;
    std::ifstream(pci_directory + "/" + address + "/numa_node") >> node;
    return std::max(node, -1);
}

}  // namespace

model::GpuLinks read_links(const Functions& call, std::span<Device* const> devices,
                           const std::string& pci_directory) {
    model::GpuLinks links;
    if (devices.size() < 2) return links;
    bool is_said = false;
    for (Device* const one : devices) {
        std::string row;
        for (Device* const other : devices) {
            const auto word = one == other ? std::nullopt : link_word(call, one, other);
            is_said |= word.has_value();
            row += (row.empty() ? "" : " ") + (one == other ? "X" : word.value_or("SYS"));
        }
        links.matrix.push_back(row);
        links.numa.push_back(numa_node(call, one, pci_directory));
    }
    if (!is_said) links.matrix.clear();
    if (std::ranges::all_of(links.numa, [](int node) { return node < 0; })) links.numa.clear();
    return links;
}

}  // namespace berth::nvml
