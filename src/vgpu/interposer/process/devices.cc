// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/process/devices.h"

#include <atomic>
#include <cstdio>

#include "vgpu/interposer/driver/real_driver.h"

namespace berth::vgpu::interposer {
namespace {

constexpr int kDevicesMax = 64;
constexpr std::size_t kContextsMax = 64;

std::atomic<int> gpus[kDevicesMax];
std::atomic<int> device_count{0};

// Where a slot is overwritten by another thread the reader sees another context, and asks.
struct Known {
    std::atomic<CUcontext> context;
    std::atomic<int> gpu;
};
Known known[kContextsMax];

std::size_t slot_of(CUcontext context) {
    const auto bits = reinterpret_cast<std::uintptr_t>(context);
    return (bits >> 4U ^ bits >> 12U) % kContextsMax;
}

void write_uuid(const CUuuid& uuid, char (&text)[ledger::kUuidMax]) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(uuid.bytes);
    char* end = text + std::snprintf(text, sizeof text, "GPU-");
    for (int index = 0; index < 16; ++index) {
        const bool has_dash = index == 4 || index == 6 || index == 8 || index == 10;
        end += std::snprintf(end, static_cast<std::size_t>(text + sizeof text - end), "%s%02x",
                             has_dash ? "-" : "", bytes[index]);
    }
}

}  // namespace

void learn_devices(const Seat& seat) {
    if (device_count != 0) return;
    const RealDriver& real = load_real_driver();
    int count = 0;
    if (real.cuDeviceGetCount == nullptr || real.cuDeviceGetCount(&count) != CUDA_SUCCESS) return;
    const auto read =
        real.cuDeviceGetUuid_v2 != nullptr ? real.cuDeviceGetUuid_v2 : real.cuDeviceGetUuid;
    for (int index = 0; index < count && index < kDevicesMax; ++index) {
        CUdevice device = 0;
        CUuuid uuid{};
        char text[ledger::kUuidMax];
        if (real.cuDeviceGet(&device, index) != CUDA_SUCCESS || device < 0 ||
            device >= kDevicesMax || read == nullptr || read(&uuid, device) != CUDA_SUCCESS)
            continue;
        write_uuid(uuid, text);
        gpus[device] = seat.find(text);
    }
    device_count = count;
}

Gpu gpu_of(CUdevice device) {
    if (!is_tenant()) return kUnlimited;
    return device < 0 || device >= device_count ? kNotGiven : gpus[device].load();
}

Here here() {
    if (!is_tenant()) return {};
    const RealDriver& real = load_real_driver();
    CUcontext context = nullptr;
    if (real.cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == nullptr) return {};
    Known& slot = known[slot_of(context)];
    const int gpu = slot.gpu.load(std::memory_order_acquire);
    if (slot.context.load(std::memory_order_acquire) == context) return {gpu, context};
    CUdevice device = 0;
    if (real.cuCtxGetDevice(&device) != CUDA_SUCCESS) return {};
    const Gpu asked = gpu_of(device);
    // Never a context with the GPU of another one: first nothing, then the GPU, then the context.
    slot.context.store(nullptr);
    slot.gpu.store(asked);
    slot.context.store(context);
    return {asked, context};
}

void forget_context_device(CUcontext context) {
    CUcontext expected = context;
    known[slot_of(context)].context.compare_exchange_strong(expected, nullptr);
}

void forget_devices() {
    device_count = 0;
    for (Known& slot : known) slot.context = nullptr;
}

}  // namespace berth::vgpu::interposer
