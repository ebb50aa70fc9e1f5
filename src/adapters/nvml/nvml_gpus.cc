// SPDX-License-Identifier: Apache-2.0
#include "adapters/nvml/nvml_gpus.h"

#include <algorithm>
#include <map>

#include "adapters/nvml/gpu_model_name.h"
#include "adapters/nvml/nvml_links.h"
#include "model/node/mig.h"

namespace berth::nvml {
namespace {

constexpr const char* kProductLabel = "gpu.product";
// Slices that no job gets, because their memory is not theirs alone.
constexpr const char* kUnofferedLabel = "gpu.slices-not-offered";

// What the driver keeps of the memory for itself; 0 where it does not say.
model::Bytes reserved_of(const Functions& call, Device* device) {
    MemoryInfo2 memory;
    const bool is_told = call.nvmlDeviceGetMemoryInfo_v2 != nullptr &&
                         call.nvmlDeviceGetMemoryInfo_v2(device, &memory) == kSuccess;
    return {is_told ? static_cast<std::int64_t>(memory.reserved) : 0};
}

std::string with_dashes(std::string text) {
    std::replace(text.begin(), text.end(), ' ', '-');
    return text;
}

}  // namespace

model::Node NvmlGpus::whole_gpus(const Devices& found) const {
    const Functions& call = library_->call();
    model::Node node;
    node.name = host_;
    bool is_mixed = false;
    std::vector<Device*> devices;
    for (const PlacedDevice& placed : found.placed) {
        Device* const device = placed.device;
        if (!placed.profile.empty()) continue;
        devices.push_back(device);
        if (device == nullptr) continue;
        const std::string product = read_text(call.nvmlDeviceGetName, device);
        const std::string name = short_model_name(product);
        is_mixed |= !node.gpu_model.empty() && name != node.gpu_model;
        if (node.gpu_model.empty()) node.gpu_model = name;
        if (!product.empty()) node.labels.emplace(kProductLabel, with_dashes(product));
        MemoryInfo memory;
        if (call.nvmlDeviceGetMemoryInfo(device, &memory) != kSuccess) continue;
        const model::Bytes bytes{static_cast<std::int64_t>(memory.total)};
        node.gpu_memory = node.gpu_memory.value == 0 ? bytes : std::min(node.gpu_memory, bytes);
        node.gpu_reserved = std::max(node.gpu_reserved, reserved_of(call, device));
    }
    node.gpus = static_cast<int>(devices.size());
    node.gpu_links = read_links(call, devices, sys_directory_);
    if (is_mixed) {
        node.gpu_model.clear();
        node.labels.erase(kProductLabel);
    }
    return node;
}

base::Result<std::vector<model::Node>> NvmlGpus::discover() {
    BERTH_TRY(found, devices());
    model::Node whole = whole_gpus(found);
    std::map<std::string, int> slices;
    for (const PlacedDevice& placed : found.placed) {
        if (!placed.profile.empty()) ++slices[placed.profile];
    }
    std::vector<model::Node> nodes = model::split_off_slices(whole, slices);
    // What the driver calls such a slice is no profile that a job could ask for.
    for (const std::string& profile : found.unoffered) {
        whole.labels[kUnofferedLabel] +=
            (whole.labels[kUnofferedLabel].empty() ? "" : ",") + profile;
    }
    nodes.insert(nodes.begin(), std::move(whole));
    for (const model::Node& node : nodes) {
        if (node.gpus > model::kGpusPerNodeMax)
            return base::fail(base::ErrorCode::Unavailable,
                              "this machine has " + std::to_string(node.gpus) + " GPUs, at most " +
                                  std::to_string(model::kGpusPerNodeMax) + " are supported");
    }
    return nodes;
}

base::Result<std::vector<ports::GpuReading>> NvmlGpus::read() {
    BERTH_TRY(found, devices());
    std::vector<ports::GpuReading> readings;
    for (const PlacedDevice& placed : found.placed) {
        readings.push_back(read_one(placed));
        // Behind a GPU that is cut the driver's numbers are not the node's.
        if (found.is_any_cut) readings.back().visible_as = readings.back().uuid;
    }
    return readings;
}

std::string NvmlGpus::driver() {
    char release[96] = {};
    if (!open() || library_->call().nvmlSystemGetDriverVersion == nullptr ||
        library_->call().nvmlSystemGetDriverVersion(release, sizeof release - 1) != kSuccess) {
        return {};
    }
    return release;
}

base::Status NvmlGpus::open() {
    if (library_ != nullptr) return {};
    auto opened = Library::open(library_path_);
    if (!opened) return tl::unexpected(opened.error());
    library_ = std::move(*opened);
    return {};
}

base::Result<unsigned int> NvmlGpus::count() {
    BERTH_TRY_VOID(open());
    unsigned int total = 0;
    const int result = library_->call().nvmlDeviceGetCount_v2(&total);
    if (result == kSuccess) return total;
    const std::string why = library_->describe(result);
    library_.reset();  // the driver may have been replaced under us
    return base::fail(base::ErrorCode::Unavailable, "the NVIDIA driver does not answer: " + why);
}

base::Result<Devices> NvmlGpus::devices() {
    BERTH_TRY(total, count());
    return find_devices(library_->call(), total, host_);
}

ports::GpuReading NvmlGpus::read_one(const PlacedDevice& placed) const {
    const Functions& call = library_->call();
    ports::GpuReading reading;
    reading.node = placed.node;
    reading.index = placed.index;
    Device* const device = placed.device;
    if (device == nullptr) {
        reading.healthy = false;
        return reading;
    }
    reading.pci_address = pci_address(call, device);
    int mode = kComputeModeDefault;
    if (call.nvmlDeviceGetComputeMode != nullptr &&
        call.nvmlDeviceGetComputeMode(device, &mode) == kSuccess) {
        reading.takes_one_process = mode != kComputeModeDefault;
    }
    reading.uuid = read_text(call.nvmlDeviceGetUUID, device);
    const auto is_read = [&reading](int result) {
        if (result == kGpuIsLost) reading.healthy = false;
        return result == kSuccess;
    };
    MemoryInfo memory;
    if (is_read(call.nvmlDeviceGetMemoryInfo(device, &memory)))
        reading.memory_used = {static_cast<std::int64_t>(memory.used)};
    // Of a slice neither is measured.
    Utilization utilization;
    if (is_read(call.nvmlDeviceGetUtilizationRates(device, &utilization)))
        reading.utilization_percent = static_cast<int>(utilization.gpu);
    unsigned int milliwatts = 0;
    if (is_read(call.nvmlDeviceGetPowerUsage(device, &milliwatts)))
        reading.power_watts = static_cast<int>((milliwatts + 500) / 1000);
    return reading;
}

}  // namespace berth::nvml
