// SPDX-License-Identifier: Apache-2.0
#include "adapters/nvml/nvml_devices.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "model/node/mig.h"

namespace berth::nvml {
namespace {

bool is_in_mig_mode(const Functions& call, Device* device) {
    unsigned int current = 0;
    unsigned int pending = 0;
    return device != nullptr && call.nvmlDeviceGetMigMode != nullptr &&
           call.nvmlDeviceGetMigMode(device, &current, &pending) == kSuccess && current == 1;
}

std::vector<Device*> slices_of(const Functions& call, Device* gpu) {
    std::vector<Device*> slices;
    unsigned int most = 0;
    if (call.nvmlDeviceGetMaxMigDeviceCount == nullptr ||
        call.nvmlDeviceGetMigDeviceHandleByIndex == nullptr ||
        call.nvmlDeviceGetMaxMigDeviceCount(gpu, &most) != kSuccess) {
        return slices;
    }
    for (unsigned int index = 0; index < most; ++index) {
        Device* slice = nullptr;
        if (call.nvmlDeviceGetMigDeviceHandleByIndex(gpu, index, &slice) != kSuccess) continue;
        slices.push_back(slice);
    }
    return slices;
}

// Its name ends with it: "NVIDIA H100 80GB HBM3 MIG 1g.10gb". Where it does not, the parts are
// asked for.
std::string profile_of(const Functions& call, Device* slice) {
    constexpr std::string_view kBefore = "MIG ";
    const std::string name = read_text(call.nvmlDeviceGetName, slice);
    if (const auto at = name.rfind(kBefore); at != std::string::npos) {
        return name.substr(at + kBefore.size());
    }
    SliceAttributes parts;
    if (call.nvmlDeviceGetAttributes_v2 == nullptr ||
        call.nvmlDeviceGetAttributes_v2(slice, &parts) != kSuccess) {
        return "unknown";
    }
    std::string profile = std::to_string(parts.gpu_slices) + "g." +
                          std::to_string((parts.memory_mib + 512) / 1024) + "gb";
    if (parts.compute_slices != parts.gpu_slices) {
        profile.insert(0, std::to_string(parts.compute_slices) + "c.");
    }
    return profile;
}

}  // namespace

std::string read_text(int (*get)(Device*, char*, unsigned int), Device* device) {
    char text[128] = {};
    return get(device, text, sizeof text - 1) == kSuccess ? text : "";
}

std::string pci_address(const Functions& call, Device* device) {
    PciInfo info;
    if (device == nullptr || call.nvmlDeviceGetPciInfo_v3 == nullptr ||
        call.nvmlDeviceGetPciInfo_v3(device, &info) != kSuccess) {
        return {};
    }
    // The driver writes eight digits of the domain, the kernel four, and small letters.
    std::string address = info.bus_id;
    if (const auto colon = address.find(':'); colon != std::string::npos && colon > 4) {
        address.erase(0, colon - 4);
    }
    std::ranges::transform(address, address.begin(),
                           [](unsigned char letter) { return std::tolower(letter); });
    return address;
}

Devices find_devices(const Functions& call, unsigned int total, const std::string& host) {
    Devices found;
    std::map<std::string, std::vector<Device*>> slices;  // by profile
    for (unsigned int index = 0; index < total; ++index) {
        Device* device = nullptr;
        if (call.nvmlDeviceGetHandleByIndex_v2(index, &device) != kSuccess) device = nullptr;
        if (!is_in_mig_mode(call, device)) {
            found.placed.push_back({device, host, static_cast<int>(found.placed.size())});
            continue;
        }
        found.is_any_cut = true;
        for (Device* const slice : slices_of(call, device)) {
            const std::string profile = profile_of(call, slice);
            if (model::mig_profile(profile)) {
                slices[profile].push_back(slice);
            } else if (std::ranges::find(found.unoffered, profile) == found.unoffered.end()) {
                found.unoffered.push_back(profile);
            }
        }
    }
    for (const auto& [profile, devices] : slices) {
        for (std::size_t index = 0; index < devices.size(); ++index) {
            found.placed.push_back({devices[index], model::slices_node(host, profile),
                                    static_cast<int>(index), profile});
        }
    }
    return found;
}

}  // namespace berth::nvml
