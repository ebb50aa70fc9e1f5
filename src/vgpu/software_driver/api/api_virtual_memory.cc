// SPDX-License-Identifier: Apache-2.0
//
// Virtual memory management: physical memory by handle, addresses by reservation, and mappings of
// one at the other.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "vgpu/software_driver/driver.h"

using namespace berth::vgpu::software_driver;
namespace device = berth::vgpu::device;

namespace {

constexpr std::uint64_t kGranularity = device::kPageBytes;

// A handle is the number of its block and one more.
CUmemGenericAllocationHandle handle_of(const HeldBlock& block) { return block.block + 1ULL; }

HeldBlock* block_of(Driver& driver, CUmemGenericAllocationHandle handle) {
    if (handle == 0 || handle > 0xffffffffULL) return nullptr;
    HeldBlock* block = driver.memory.find_block(static_cast<std::uint32_t>(handle - 1));
    return block != nullptr && block->handles > 0 ? block : nullptr;
}

bool is_host(CUmemLocationType type) {
    return type == CU_MEM_LOCATION_TYPE_HOST || type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
           type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

CUresult check(const Driver& driver, const CUmemAllocationProp* prop) {
    if (prop == nullptr || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (is_host(prop->location.type)) return CUDA_SUCCESS;
    if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    const int of = prop->location.id;
    return of >= 0 && static_cast<std::size_t>(of) < driver.gpus.size() ? CUDA_SUCCESS
                                                                        : CUDA_ERROR_INVALID_DEVICE;
}

bool is_aligned(std::uint64_t number) { return number % kGranularity == 0; }

// True when [pointer, pointer + bytes) lies in one reservation.
bool is_reserved(const Driver& driver, CUdeviceptr pointer, std::uint64_t bytes) {
    auto after = driver.memory.reservations.upper_bound(pointer);
    if (after == driver.memory.reservations.begin()) return false;
    const auto& [begin, size] = *std::prev(after);
    return pointer - begin < size && bytes <= size - (pointer - begin);
}

// The mappings that make up exactly [pointer, pointer + bytes); empty when they do not.
std::vector<Allocation> mappings_of(Driver& driver, CUdeviceptr pointer, std::uint64_t bytes) {
    std::vector<Allocation> found;
    CUdeviceptr next = pointer;
    while (next < pointer + bytes) {
        const Allocation* mapping = driver.memory.find(next);
        if (mapping == nullptr || mapping->origin != Origin::Mapped || mapping->begin != next)
            return {};
        found.push_back(*mapping);
        next += mapping->bytes;
    }
    return next == pointer + bytes ? found : std::vector<Allocation>{};
}

// What the file behind a shareable handle contains.
struct Shared {
    char mark[8];
    std::uint32_t block;
    std::uint32_t unused;
    std::uint64_t serial;
};
constexpr char kVirtualMark[8] = {'b', 'e', 'r', 't', 'h', 'v', 'm', 'm'};

}  // namespace

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags) {
    return enter([&](Driver& driver, Lock&) {
        if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *bytes = kGranularity;
        return check(driver, prop);
    });
}

CUresult cuMemAddressReserve(CUdeviceptr* to, std::size_t bytes, std::size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
    return enter([&](Driver& driver, Lock&) {
        const bool is_power = (alignment & (alignment - 1)) == 0;
        if (to == nullptr || bytes == 0 || !is_aligned(bytes) || flags != 0 || !is_power)
            return CUDA_ERROR_INVALID_VALUE;
        *to = AddressSpace::reserve(bytes, std::max<std::size_t>(alignment, kGranularity));
        if (*to == 0) return CUDA_ERROR_OUT_OF_MEMORY;
        driver.memory.reservations[*to] = bytes;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAddressFree(CUdeviceptr pointer, std::size_t bytes) {
    return enter([&](Driver& driver, Lock&) {
        const auto found = driver.memory.reservations.find(pointer);
        if (found == driver.memory.reservations.end() || found->second != bytes)
            return CUDA_ERROR_INVALID_VALUE;
        for (const auto& [begin, allocation] : driver.memory.allocations())
            if (begin >= pointer && begin < pointer + bytes) return CUDA_ERROR_INVALID_VALUE;
        AddressSpace::release(pointer, bytes);
        driver.memory.reservations.erase(found);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* to, std::size_t bytes,
                     const CUmemAllocationProp* prop, unsigned long long flags) {
    return enter([&](Driver& driver, Lock&) {
        if (to == nullptr || bytes == 0 || !is_aligned(bytes) || flags != 0)
            return CUDA_ERROR_INVALID_VALUE;
        if (const CUresult result = check(driver, prop); result != CUDA_SUCCESS) return result;
        HeldBlock* block = nullptr;
        if (is_host(prop->location.type)) {
            block = driver.memory.take_host_block(bytes);
        } else {
            const auto of = static_cast<std::size_t>(prop->location.id);
            block = driver.memory.take_block(prop->location.id, driver.gpus[of].number, bytes,
                                             prop->requestedHandleTypes != 0);
        }
        if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
        block->handles = 1;
        *to = handle_of(*block);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    return enter([&](Driver& driver, Lock&) {
        if (auto multicast = driver.multicasts.extract(handle); !multicast.empty()) {
            for (const auto& [place, bound] : multicast.mapped().bound)
                release_bound(driver, bound);
            return CUDA_SUCCESS;
        }
        HeldBlock* block = block_of(driver, handle);
        if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
        --block->handles;
        driver.memory.drop_if_unused(*block);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemMap(CUdeviceptr pointer, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
    return enter([&](Driver& driver, Lock&) {
        if (handle >= kFirstMulticast) return CUDA_ERROR_NOT_SUPPORTED;
        HeldBlock* block = block_of(driver, handle);
        if (block == nullptr || bytes == 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
        if (!is_aligned(pointer) || !is_aligned(bytes) || !is_aligned(offset) ||
            offset > block->bytes || bytes > block->bytes - offset)
            return CUDA_ERROR_INVALID_VALUE;
        if (!is_reserved(driver, pointer, bytes)) return CUDA_ERROR_INVALID_VALUE;
        for (std::uint64_t at = 0; at < bytes; at += kGranularity)
            if (driver.memory.find(pointer + at) != nullptr) return CUDA_ERROR_ALREADY_MAPPED;
        if (driver.memory.map(*block, offset, bytes, pointer) == 0) return CUDA_ERROR_MAP_FAILED;
        Allocation mapping;
        mapping.begin = pointer;
        mapping.bytes = bytes;
        mapping.origin = Origin::Mapped;
        mapping.device = block->device;
        mapping.has_contents = block->file >= 0;
        mapping.block = block->block;
        mapping.block_offset = offset;
        driver.memory.add(mapping);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemUnmap(CUdeviceptr pointer, std::size_t bytes) {
    return enter([&](Driver& driver, Lock& lock) {
        const auto mappings = mappings_of(driver, pointer, bytes);
        if (mappings.empty()) return CUDA_ERROR_INVALID_VALUE;
        if (const Context* context = current_context(driver); context != nullptr)
            synchronize_all(driver, lock, *context);
        for (const Allocation& mapping : mappings) {
            driver.memory.remove(mapping.begin);
            driver.memory.unmap(*driver.memory.find_block(mapping.block), mapping.begin,
                                mapping.bytes);
        }
        return CUDA_SUCCESS;
    });
}

// Mapped memory may be read and written at once; only what is asked is checked.
CUresult cuMemSetAccess(CUdeviceptr pointer, std::size_t bytes, const CUmemAccessDesc* access,
                        std::size_t count) {
    return enter([&](Driver& driver, Lock&) {
        if (access == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
        for (std::size_t i = 0; i < count; ++i)
            if (access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
                static_cast<std::size_t>(access[i].location.id) >= driver.gpus.size())
                return CUDA_ERROR_INVALID_DEVICE;
        return mappings_of(driver, pointer, bytes).empty() ? CUDA_ERROR_INVALID_VALUE
                                                           : CUDA_SUCCESS;
    });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr pointer) {
    return enter([&](Driver& driver, Lock&) {
        if (flags == nullptr || location == nullptr || driver.memory.find(pointer) == nullptr)
            return CUDA_ERROR_INVALID_VALUE;
        *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* to, void* address) {
    return enter([&](Driver& driver, Lock&) {
        const Allocation* found = driver.memory.find(reinterpret_cast<CUdeviceptr>(address));
        if (to == nullptr || found == nullptr || found->origin != Origin::Mapped)
            return CUDA_ERROR_INVALID_VALUE;
        HeldBlock* block = driver.memory.find_block(found->block);
        ++block->handles;
        *to = handle_of(*block);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop,
                                                CUmemGenericAllocationHandle handle) {
    return enter([&](Driver& driver, Lock&) {
        const HeldBlock* block = block_of(driver, handle);
        if (prop == nullptr || block == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *prop = {};
        prop->type = CU_MEM_ALLOCATION_TYPE_PINNED;
        prop->requestedHandleTypes = block->is_shareable ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                                                         : CU_MEM_HANDLE_TYPE_NONE;
        prop->location.type =
            block->is_host ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
        prop->location.id = block->device;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
    return enter([&](Driver& driver, Lock&) {
        const HeldBlock* block = block_of(driver, handle);
        if (shareable == nullptr || block == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
        if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
        if (!block->is_shareable) return CUDA_ERROR_INVALID_VALUE;
        Shared shared = {{}, block->block, 0, block->serial};
        std::memcpy(shared.mark, kVirtualMark, sizeof(kVirtualMark));
        const int file = ::memfd_create("berth shared block", MFD_CLOEXEC);
        if (file < 0) return CUDA_ERROR_OPERATING_SYSTEM;
        if (::pwrite(file, &shared, sizeof(shared), 0) != sizeof(shared)) {
            ::close(file);
            return CUDA_ERROR_OPERATING_SYSTEM;
        }
        driver.record().is_unmovable.store(1);
        std::memcpy(shareable, &file, sizeof(file));
        return CUDA_SUCCESS;
    });
}

// The shareable handle is the file descriptor itself, cast to a pointer.
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* to, void* shareable,
                                        CUmemAllocationHandleType type) {
    return enter([&](Driver& driver, Lock&) {
        if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
        const int file = static_cast<int>(reinterpret_cast<std::intptr_t>(shareable));
        Shared shared{};
        if (to == nullptr || ::pread(file, &shared, sizeof(shared), 0) != sizeof(shared) ||
            std::memcmp(shared.mark, kVirtualMark, sizeof(kVirtualMark)) != 0)
            return CUDA_ERROR_INVALID_VALUE;
        HeldBlock* block = driver.memory.import_block(0, shared.block, shared.serial);
        if (block == nullptr) return CUDA_ERROR_INVALID_VALUE;
        ++block->handles;
        driver.record().is_unmovable.store(1);
        *to = handle_of(*block);
        return CUDA_SUCCESS;
    });
}
