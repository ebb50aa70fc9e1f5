// SPDX-License-Identifier: Apache-2.0
//
// Memory of the GPU and of the host, what an address stands for, and memory of other processes.
#include <sys/mman.h>

#include <cstring>

#include "vgpu/device/memory.h"
#include "vgpu/software_driver/driver.h"
#include "vgpu/software_driver/memory/allocate.h"

using namespace berth::vgpu::software_driver;
namespace device = berth::vgpu::device;

namespace {

constexpr std::size_t kPitchBytes = 512;

// What a CUipcMemHandle holds.
struct SharedBlock {
    char mark[8];
    std::uint32_t block;
    std::uint32_t unused;
    std::uint64_t serial;
    std::uint64_t offset;  // of the allocation in the block
    std::uint64_t bytes;
};
constexpr char kMark[8] = {'b', 'e', 'r', 't', 'h', 'i', 'p', 'c'};
static_assert(sizeof(SharedBlock) <= sizeof(CUipcMemHandle));

Gpu& gpu_of(Driver& driver, const Context& context) {
    return driver.gpus[static_cast<std::size_t>(context.device)];
}

CUresult allocate_to(CUdeviceptr* to, std::size_t bytes) {
    return enter_context([&](Driver& driver, Context& context, Lock&) {
        if (to == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
        *to = allocate(driver, context, bytes);
        return *to == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
    });
}

std::size_t page_rounded(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

CUresult allocate_host(void** to, std::size_t bytes) {
    return enter_context([&](Driver& driver, Context& context, Lock&) {
        if (to == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
        void* place = ::mmap(nullptr, page_rounded(bytes), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (place == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
        Allocation allocation;
        allocation.begin = reinterpret_cast<CUdeviceptr>(place);
        allocation.bytes = page_rounded(bytes);
        allocation.origin = Origin::Host;
        allocation.device = context.device;
        allocation.context = &context;
        driver.memory.add(allocation);
        *to = place;
        return CUDA_SUCCESS;
    });
}

// Frees what was allocated at exactly this address, by one of these origins.
CUresult free_at(CUdeviceptr pointer, bool (*may_free)(const Allocation&), CUresult otherwise) {
    if (pointer == 0) return CUDA_SUCCESS;
    return enter([&](Driver& driver, Lock& lock) {
        const Allocation* allocation = driver.memory.find(pointer);
        if (allocation == nullptr || allocation->begin != pointer || !may_free(*allocation))
            return otherwise;
        // As with the real one: nothing that is queued still uses it afterwards.
        if (allocation->context != nullptr) synchronize_all(driver, lock, *allocation->context);
        allocation = driver.memory.find(pointer);
        if (allocation == nullptr || allocation->begin != pointer) return otherwise;
        deallocate(driver, *allocation);
        return CUDA_SUCCESS;
    });
}

bool is_gpu_allocation(const Allocation& allocation) {
    return allocation.origin != Origin::Host && allocation.origin != Origin::Mapped &&
           allocation.origin != Origin::Imported && allocation.origin != Origin::Graph;
}

// The documents forbid opening a handle in the process that made it.
bool is_own(const Driver& driver, const SharedBlock& shared) {
    const device::Block& block = (*driver.state)->blocks[shared.block % device::kBlocksMax];
    return block.serial == shared.serial && block.payer.load() == driver.process;
}

template <class T>
CUresult answer(void* to, T value) {
    std::memcpy(to, &value, sizeof(value));
    return CUDA_SUCCESS;
}

CUresult answer_attribute(const Allocation& allocation, CUpointer_attribute attribute,
                          CUdeviceptr pointer, void* to) {
    const bool is_host = allocation.origin == Origin::Host;
    const bool is_managed = allocation.origin == Origin::Managed;
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_CONTEXT: return answer(to, allocation.context);
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            return answer(to, is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return answer(to, pointer);
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            return is_host || is_managed ? answer(to, pointer) : CUDA_ERROR_INVALID_VALUE;
        case CU_POINTER_ATTRIBUTE_BUFFER_ID: return answer(to, allocation.id);
        case CU_POINTER_ATTRIBUTE_IS_MANAGED: return answer(to, is_managed ? 1U : 0U);
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return answer(to, allocation.device);
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return answer(to, allocation.begin);
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return answer(to, allocation.bytes);
        case CU_POINTER_ATTRIBUTE_MAPPED: return answer(to, 1U);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    return enter_context([&](Driver& driver, Context& context, Lock&) {
        const device::Usage usage = device::usage(*driver.state, gpu_of(driver, context).number);
        if (free != nullptr) *free = usage.free_bytes();
        if (total != nullptr) *total = usage.total_bytes - usage.reserved_bytes;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAlloc_v2(CUdeviceptr* to, std::size_t bytes) { return allocate_to(to, bytes); }

CUresult cuMemAllocPitch_v2(CUdeviceptr* to, std::size_t* pitch, std::size_t width,
                            std::size_t height, unsigned int element_bytes) {
    if (to == nullptr || pitch == nullptr || width == 0 || height == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (element_bytes != 4 && element_bytes != 8 && element_bytes != 16)
        return CUDA_ERROR_INVALID_VALUE;
    const std::size_t row = (width + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
    const CUresult result = allocate_to(to, row * height);
    if (result == CUDA_SUCCESS) *pitch = row;
    return result;
}

CUresult cuMemAllocManaged(CUdeviceptr* to, std::size_t bytes, unsigned int flags) {
    return enter_context([&](Driver& driver, Context& context, Lock&) {
        if (to == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
        if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
            return CUDA_ERROR_INVALID_VALUE;
        HeldBlock* block =
            driver.memory.take_block(context.device, gpu_of(driver, context).number, bytes, false);
        if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
        const CUdeviceptr begin = driver.memory.map(*block, 0, block->bytes, 0);
        // The host may touch all of it, so there must be contents.
        if (begin == 0 || block->file < 0) {
            if (begin != 0)
                driver.memory.unmap(*block, begin, block->bytes);
            else
                driver.memory.drop_if_unused(*block);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
        Allocation allocation;
        allocation.begin = begin;
        allocation.bytes = bytes;
        allocation.origin = Origin::Managed;
        allocation.device = context.device;
        allocation.context = &context;
        allocation.block = block->block;
        driver.memory.add(allocation);
        driver.record().is_unmovable.store(1);
        *to = begin;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
    return free_at(pointer, is_gpu_allocation, CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr pointer) {
    return enter_context([&](Driver& driver, Context&, Lock&) {
        const Allocation* allocation = driver.memory.find(pointer);
        if (allocation == nullptr) return CUDA_ERROR_NOT_FOUND;
        if (base != nullptr) *base = allocation->begin;
        if (bytes != nullptr) *bytes = allocation->bytes;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAllocHost_v2(void** to, std::size_t bytes) { return allocate_host(to, bytes); }

CUresult cuMemHostAlloc(void** to, std::size_t bytes, unsigned int) {
    return allocate_host(to, bytes);
}

CUresult cuMemFreeHost(void* pointer) {
    return free_at(
        reinterpret_cast<CUdeviceptr>(pointer),
        [](const Allocation& one) { return one.origin == Origin::Host && !one.is_registered_host; },
        CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* to, void* pointer, unsigned int flags) {
    return enter_context([&](Driver& driver, Context&, Lock&) {
        if (to == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
        const auto address = reinterpret_cast<CUdeviceptr>(pointer);
        const Allocation* allocation = driver.memory.find(address);
        if (allocation == nullptr || allocation->origin != Origin::Host)
            return CUDA_ERROR_INVALID_VALUE;
        *to = address;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned int) {
    return enter_context([&](Driver& driver, Context& context, Lock&) {
        const auto begin = reinterpret_cast<CUdeviceptr>(pointer);
        if (begin == 0 || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
        if (driver.memory.find(begin) != nullptr) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
        Allocation allocation;
        allocation.begin = begin;
        allocation.bytes = bytes;
        allocation.origin = Origin::Host;
        allocation.device = context.device;
        allocation.context = &context;
        allocation.is_registered_host = true;
        driver.memory.add(allocation);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemHostUnregister(void* pointer) {
    return free_at(
        reinterpret_cast<CUdeviceptr>(pointer),
        [](const Allocation& one) { return one.is_registered_host; },
        CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr pointer) {
    return enter_context([&](Driver& driver, Context&, Lock&) {
        const Allocation* allocation = driver.memory.find(pointer);
        if (value == nullptr || allocation == nullptr) return CUDA_ERROR_INVALID_VALUE;
        return answer_attribute(*allocation, attribute, pointer, value);
    });
}

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer) {
    return enter_context([&](Driver& driver, Context&, Lock&) {
        const Allocation* allocation = driver.memory.find(pointer);
        if (handle == nullptr || allocation == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (allocation->origin != Origin::Block && allocation->origin != Origin::Arena)
            return CUDA_ERROR_INVALID_VALUE;
        const HeldBlock& block = *driver.memory.find_block(allocation->block);
        SharedBlock shared = {
            {}, block.block, 0, block.serial, allocation->block_offset, allocation->bytes};
        std::memcpy(shared.mark, kMark, sizeof(kMark));
        std::memset(handle, 0, sizeof(*handle));
        std::memcpy(handle, &shared, sizeof(shared));
        driver.record().is_unmovable.store(1);
        return CUDA_SUCCESS;
    });
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* to, CUipcMemHandle handle, unsigned int flags) {
    return enter_context([&](Driver& driver, Context& context, Lock&) {
        SharedBlock shared{};
        std::memcpy(&shared, &handle, sizeof(shared));
        if (to == nullptr || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
            return CUDA_ERROR_INVALID_VALUE;
        if (std::memcmp(shared.mark, kMark, sizeof(kMark)) != 0) return CUDA_ERROR_INVALID_VALUE;
        if (is_own(driver, shared)) return CUDA_ERROR_INVALID_CONTEXT;
        HeldBlock* block = driver.memory.import_block(context.device, shared.block, shared.serial);
        if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const CUdeviceptr begin = driver.memory.map(*block, 0, block->bytes, 0);
        if (begin == 0) {
            driver.memory.drop_if_unused(*block);
            return CUDA_ERROR_MAP_FAILED;
        }
        Allocation allocation;
        allocation.begin = begin + shared.offset;
        allocation.bytes = shared.bytes;
        allocation.origin = Origin::Imported;
        allocation.device = context.device;
        allocation.context = &context;
        allocation.has_contents = block->file >= 0;
        allocation.block = block->block;
        allocation.block_offset = shared.offset;
        driver.memory.add(allocation);
        driver.record().is_unmovable.store(1);
        *to = allocation.begin;
        return CUDA_SUCCESS;
    });
}

CUresult cuIpcCloseMemHandle(CUdeviceptr pointer) {
    return free_at(
        pointer, [](const Allocation& one) { return one.origin == Origin::Imported; },
        CUDA_ERROR_INVALID_VALUE);
}
