// SPDX-License-Identifier: Apache-2.0
#include "adapters/nvml/nvml_links.h"

#include <algorithm>
#include <optional>

#include "adapters/nvml/nvml_devices.h"
#include "adapters/nvml/pci_places.h"

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

bool is_known(const std::vector<int>& places) {
    return std::ranges::any_of(places, [](int place) { return place >= 0; });
}

}  // namespace

model::GpuLinks read_links(const Functions& call, std::span<Device* const> devices,
                           const std::string& sys_directory) {
    model::GpuLinks links;
    if (devices.size() < 2) return links;
    bool is_said = false;
    std::vector<std::string> addresses;
    for (Device* const one : devices) {
        std::string row;
        for (Device* const other : devices) {
            const auto word = one == other ? std::nullopt : link_word(call, one, other);
            is_said |= word.has_value();
            row += (row.empty() ? "" : " ") + (one == other ? "X" : word.value_or("SYS"));
        }
        links.matrix.push_back(row);
        addresses.push_back(pci_address(call, one));
    }
    if (!is_said) links.matrix.clear();
    PciPlaces places = read_pci_places(addresses, sys_directory);
    if (is_known(places.numa)) links.numa = std::move(places.numa);
    if (is_known(places.nics)) links.nics = std::move(places.nics);
    return links;
}

}  // namespace berth::nvml
