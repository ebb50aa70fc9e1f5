// SPDX-License-Identifier: Apache-2.0
#include "adapters/nvml/nvml_gpus.h"

#include <algorithm>

#include "adapters/nvml/gpu_model_name.h"

namespace berth::nvml {
namespace {

constexpr const char* kProductLabel = "gpu.product";

// A text that the library writes into a buffer; empty when it has none.
std::string read_text(int (*get)(Device*, char*, unsigned int), Device* device) {
    char text[128] = {};
    return get(device, text, sizeof text - 1) == kSuccess ? text : "";
}

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

base::Result<std::vector<model::Node>> NvmlGpus::discover() {
    BERTH_TRY(total, count());
    if (total > static_cast<unsigned int>(model::kGpusPerNodeMax))
        return base::fail(base::ErrorCode::Unavailable,
                          "this machine has " + std::to_string(total) + " GPUs, at most " +
                              std::to_string(model::kGpusPerNodeMax) + " are supported");
    model::Node node;
    node.name = host_;
    node.gpus = static_cast<int>(total);
    bool is_mixed = false;
    std::vector<Device*> devices(total);
    for (unsigned int index = 0; index < total; ++index) {
        Device* device = nullptr;
        if (library_->call().nvmlDeviceGetHandleByIndex_v2(index, &device) != kSuccess) continue;
        devices[index] = device;
        const std::string product = read_text(library_->call().nvmlDeviceGetName, device);
        const std::string name = short_model_name(product);
        is_mixed |= !node.gpu_model.empty() && name != node.gpu_model;
        if (node.gpu_model.empty()) node.gpu_model = name;
        if (!product.empty()) node.labels.emplace(kProductLabel, with_dashes(product));
        MemoryInfo memory;
        if (library_->call().nvmlDeviceGetMemoryInfo(device, &memory) != kSuccess) continue;
        const model::Bytes bytes{static_cast<std::int64_t>(memory.total)};
        node.gpu_memory = node.gpu_memory.value == 0 ? bytes : std::min(node.gpu_memory, bytes);
        node.gpu_reserved = std::max(node.gpu_reserved, reserved_of(library_->call(), device));
    }
    node.gpu_links = read_links(library_->call(), devices, pci_directory_);
    if (is_mixed) {
        node.gpu_model.clear();
        node.labels.erase(kProductLabel);
    }
    return std::vector{std::move(node)};
}

base::Result<std::vector<ports::GpuReading>> NvmlGpus::read() {
    BERTH_TRY(total, count());
    std::vector<ports::GpuReading> readings;
    for (unsigned int index = 0; index < total; ++index) readings.push_back(read_one(index));
    return readings;
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

ports::GpuReading NvmlGpus::read_one(unsigned int index) const {
    const Functions& call = library_->call();
    ports::GpuReading reading;
    reading.node = host_;
    reading.index = static_cast<int>(index);
    Device* device = nullptr;
    if (call.nvmlDeviceGetHandleByIndex_v2(index, &device) != kSuccess) {
        reading.healthy = false;
        return reading;
    }
    reading.uuid = read_text(call.nvmlDeviceGetUUID, device);
    const auto is_read = [&reading](int result) {
        if (result == kGpuIsLost) reading.healthy = false;
        return result == kSuccess;
    };
    MemoryInfo memory;
    if (is_read(call.nvmlDeviceGetMemoryInfo(device, &memory)))
        reading.memory_used = {static_cast<std::int64_t>(memory.used)};
    Utilization utilization;
    if (is_read(call.nvmlDeviceGetUtilizationRates(device, &utilization)))
        reading.utilization_percent = static_cast<int>(utilization.gpu);
    unsigned int milliwatts = 0;
    if (is_read(call.nvmlDeviceGetPowerUsage(device, &milliwatts)))
        reading.power_watts = static_cast<int>((milliwatts + 500) / 1000);
    return reading;
}

}  // namespace berth::nvml
