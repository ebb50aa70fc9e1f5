// SPDX-License-Identifier: Apache-2.0
//
// Multicast objects, as far as they hold memory: they cannot be mapped here.
#include "vgpu/software_driver/driver.h"

using namespace berth::vgpu::software_driver;
namespace device = berth::vgpu::device;

namespace berth::vgpu::software_driver {

void release_bound(Driver& driver, const Multicast::Bound& bound) {
    HeldBlock& block = *driver.memory.find_block(bound.block);
    --block.mappings;
    driver.memory.drop_if_unused(block);
}

}  // namespace berth::vgpu::software_driver

namespace {

constexpr std::size_t kMulticastGranularity = device::kPageBytes;

bool is_multicast_aligned(std::size_t number) { return number % kMulticastGranularity == 0; }

bool is_valid(const Driver& driver, const CUmulticastObjectProp* prop) {
    return prop != nullptr && prop->size != 0 && is_multicast_aligned(prop->size) &&
           prop->flags == 0 && prop->numDevices >= 1 &&
           prop->numDevices <= driver.description().gpus;
}

Multicast* find(Driver& driver, CUmemGenericAllocationHandle handle) {
    const auto found = driver.multicasts.find(handle);
    return found == driver.multicasts.end() ? nullptr : &found->second;
}

// The memory that a binding is asked for; null where there is none.
HeldBlock* held(Driver& driver, CUmemGenericAllocationHandle memory, std::size_t offset,
                std::size_t bytes) {
    if (memory == 0 || memory > 0xffffffffULL) return nullptr;
    HeldBlock* block = driver.memory.find_block(static_cast<std::uint32_t>(memory - 1));
    const bool fits = block != nullptr && block->handles != 0 && offset <= block->bytes &&
                      bytes <= block->bytes - offset;
    return fits ? block : nullptr;
}

HeldBlock* mapped(Driver& driver, CUdeviceptr memory, std::size_t bytes) {
    const Allocation* mapping = driver.memory.find(memory, bytes);
    if (mapping == nullptr || mapping->origin != Origin::Mapped) return nullptr;
    return driver.memory.find_block(mapping->block);
}

// Where it lies; of what is not there, anywhere.
CUdevice device_of(const HeldBlock* block) { return block == nullptr ? 0 : block->device; }

// All devices must be there before anything is bound, as documented.
CUresult bind(Multicast* object, CUdevice device, std::size_t offset, HeldBlock* block,
              std::size_t bytes, unsigned long long flags) {
    if (object == nullptr || flags != 0 || block == nullptr || block->is_host || bytes == 0 ||
        !is_multicast_aligned(offset) || !is_multicast_aligned(bytes) || offset > object->bytes ||
        bytes > object->bytes - offset)
        return CUDA_ERROR_INVALID_VALUE;
    if (object->devices.size() != object->devices_wanted) return CUDA_ERROR_ILLEGAL_STATE;
    if (!object->devices.contains(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (!object->bound.try_emplace({device, offset}, Multicast::Bound{block->block, bytes}).second)
        return CUDA_ERROR_ALREADY_MAPPED;
    ++block->mappings;
    return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMulticastGetGranularity(std::size_t* bytes, const CUmulticastObjectProp* prop,
                                   CUmulticastGranularity_flags) {
    return enter([&](Driver& driver, Lock&) {
        if (bytes == nullptr || !is_valid(driver, prop)) return CUDA_ERROR_INVALID_VALUE;
        *bytes = kMulticastGranularity;
        return CUDA_SUCCESS;
    });
}

CUresult cuMulticastCreate(CUmemGenericAllocationHandle* to, const CUmulticastObjectProp* prop) {
    return enter([&](Driver& driver, Lock&) {
        if (to == nullptr || !is_valid(driver, prop)) return CUDA_ERROR_INVALID_VALUE;
        *to = driver.next_multicast++;
        driver.multicasts[*to] = {prop->size, prop->numDevices, {}, {}};
        return CUDA_SUCCESS;
    });
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice of) {
    return enter([&](Driver& driver, Lock&) {
        Multicast* object = find(driver, handle);
        if (object == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (of < 0 || static_cast<std::size_t>(of) >= driver.gpus.size())
            return CUDA_ERROR_INVALID_DEVICE;
        if (object->devices.size() == object->devices_wanted) return CUDA_ERROR_INVALID_VALUE;
        return object->devices.insert(of).second ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    });
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, std::size_t offset,
                            CUmemGenericAllocationHandle memory, std::size_t memory_offset,
                            std::size_t bytes, unsigned long long flags) {
    return enter([&](Driver& driver, Lock&) {
        HeldBlock* block = held(driver, memory, memory_offset, bytes);
        return bind(find(driver, handle), device_of(block), offset, block, bytes, flags);
    });
}

CUresult cuMulticastBindMem_v2(CUmemGenericAllocationHandle handle, CUdevice device,
                               std::size_t offset, CUmemGenericAllocationHandle memory,
                               std::size_t memory_offset, std::size_t bytes,
                               unsigned long long flags) {
    return enter([&](Driver& driver, Lock&) {
        HeldBlock* block = held(driver, memory, memory_offset, bytes);
        return bind(find(driver, handle), device, offset, block, bytes, flags);
    });
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, std::size_t offset,
                             CUdeviceptr memory, std::size_t bytes, unsigned long long flags) {
    return enter([&](Driver& driver, Lock&) {
        HeldBlock* block = mapped(driver, memory, bytes);
        return bind(find(driver, handle), device_of(block), offset, block, bytes, flags);
    });
}

CUresult cuMulticastBindAddr_v2(CUmemGenericAllocationHandle handle, CUdevice device,
                                std::size_t offset, CUdeviceptr memory, std::size_t bytes,
                                unsigned long long flags) {
    return enter([&](Driver& driver, Lock&) {
        HeldBlock* block = mapped(driver, memory, bytes);
        return bind(find(driver, handle), device, offset, block, bytes, flags);
    });
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice of, std::size_t offset,
                           std::size_t bytes) {
    return enter([&](Driver& driver, Lock&) {
        Multicast* object = find(driver, handle);
        if (object == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const auto bound = object->bound.find({of, offset});
        if (bound == object->bound.end() || bound->second.bytes != bytes)
            return CUDA_ERROR_INVALID_VALUE;
        release_bound(driver, bound->second);
        object->bound.erase(bound);
        return CUDA_SUCCESS;
    });
}
