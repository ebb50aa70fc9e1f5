// SPDX-License-Identifier: Apache-2.0
//
// Stream-ordered memory: pools, and allocations out of them.
#include <algorithm>
#include <cstring>

#include "vgpu/software_driver/api/twin.h"
#include "vgpu/software_driver/driver.h"
#include "vgpu/software_driver/memory/allocate.h"
#include "vgpu/software_driver/work/capture.h"

using namespace berth::vgpu::software_driver;

namespace {

template <class Body>
CUresult enter_pool(CUmemoryPool handle, Body body) {
    return enter([&](Driver& driver, Lock&) -> CUresult {
        MemoryPool* pool = driver.pools.find(handle);
        return pool == nullptr ? CUDA_ERROR_INVALID_VALUE : body(driver, *pool);
    });
}

template <class Body>
CUresult enter_gpu(const void* out, CUdevice of, Body body) {
    return enter([&](Driver& driver, Lock&) -> CUresult {
        if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (of < 0 || static_cast<std::size_t>(of) >= driver.gpus.size())
            return CUDA_ERROR_INVALID_DEVICE;
        return body(driver, driver.gpus[static_cast<std::size_t>(of)]);
    });
}

CUmemoryPool handle_of(MemoryPool* pool) { return reinterpret_cast<CUmemoryPool>(pool); }

bool exceeds(const MemoryPool& pool, std::size_t bytes) {
    return pool.max_bytes != 0 && pool.arena.used_bytes() + bytes > pool.max_bytes;
}

// What streams still hold and pools keep is given back before the answer is "no memory".
Arena::Piece take_piece(Driver& driver, Context& context, MemoryPool& pool, std::size_t bytes,
                        Lock& lock) {
    Arena::Piece piece = pool.arena.allocate(bytes);
    if (piece.pointer != 0) return piece;
    synchronize_all(driver, lock, context);
    for (const auto& [handle, other] : driver.pools) other->arena.trim(0);
    return pool.arena.allocate(bytes);
}

CUresult allocate_from(Driver& driver, Context& context, MemoryPool& pool, std::size_t bytes,
                       CUdeviceptr* to, Lock& lock) {
    if (exceeds(pool, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    const Arena::Piece piece = take_piece(driver, context, pool, bytes, lock);
    if (piece.pointer == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    pool.note_high();
    Allocation allocation;
    allocation.begin = piece.pointer;
    allocation.bytes = bytes;
    allocation.origin = Origin::Pool;
    allocation.device = pool.device < 0 ? context.device : pool.device;
    allocation.context = &context;
    allocation.has_contents = piece.has_contents;
    allocation.block = piece.block;
    allocation.pool = &pool;
    driver.memory.add(allocation);
    *to = piece.pointer;
    return CUDA_SUCCESS;
}

CUresult allocate_async(Default meant, CUdeviceptr* to, std::size_t bytes, CUmemoryPool handle,
                        CUstream stream_handle, bool is_current) {
    return enter_stream(
        meant, stream_handle,
        [&](Driver& driver, Context& context, Stream& stream, Lock& lock) -> CUresult {
            if (to == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
            if (stream.capture != nullptr) return capture_allocation(driver, stream, to, bytes);
            Gpu& gpu = driver.gpus[static_cast<std::size_t>(context.device)];
            MemoryPool* pool = is_current ? gpu.current_pool : driver.pools.find(handle);
            if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
            return allocate_from(driver, context, *pool, bytes, to, lock);
        });
}

CUresult allocate_from_pool(Default meant, CUdeviceptr* to, std::size_t bytes, CUmemoryPool pool,
                            CUstream stream) {
    return allocate_async(meant, to, bytes, pool, stream, false);
}

CUresult allocate_from_current(Default meant, CUdeviceptr* to, std::size_t bytes, CUstream stream) {
    return allocate_async(meant, to, bytes, nullptr, stream, true);
}

// The memory is free for others once the stream comes to this point.
CUresult free_async(Default meant, CUdeviceptr pointer, CUstream handle) {
    if (pointer == 0) return CUDA_SUCCESS;
    return enter_stream(meant, handle,
                        [&](Driver& driver, Context&, Stream& stream, Lock&) -> CUresult {
                            const Allocation* found = driver.memory.find(pointer);
                            if (found == nullptr || found->begin != pointer)
                                return CUDA_ERROR_INVALID_VALUE;
                            if (stream.capture != nullptr)
                                return capture_free(driver, stream, pointer);
                            if (found->origin == Origin::Host || found->origin == Origin::Mapped)
                                return CUDA_ERROR_INVALID_VALUE;
                            if (found->origin == Origin::Graph)
                                return free_graph_memory(driver, *found);
                            Operation free;
                            const auto id = found->id;
                            free.effect = [&driver, pointer, id] {
                                const Allocation* allocation = driver.memory.find(pointer);
                                if (allocation != nullptr && allocation->id == id)
                                    deallocate(driver, *allocation);
                            };
                            return enqueue(driver, stream, std::move(free));
                        });
}

bool is_reuse(CUmemPool_attribute attribute) {
    return attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES && attribute != 0;
}

}  // namespace

BERTH_TWIN(cuMemAllocAsync, _ptsz, allocate_from_current,
           (CUdeviceptr * to, std::size_t bytes, CUstream stream), to, bytes, stream)
BERTH_TWIN(cuMemAllocFromPoolAsync, _ptsz, allocate_from_pool,
           (CUdeviceptr * to, std::size_t bytes, CUmemoryPool pool, CUstream stream), to, bytes,
           pool, stream)
BERTH_TWIN(cuMemFreeAsync, _ptsz, free_async, (CUdeviceptr pointer, CUstream stream), pointer,
           stream)

// Managed memory stays with the host here: no GPU takes it in.
CUresult cuMemPoolCreate(CUmemoryPool* to, const CUmemPoolProps* props) {
    if (props == nullptr || props->location.type == CU_MEM_LOCATION_TYPE_INVALID)
        return CUDA_ERROR_INVALID_VALUE;
    const bool is_on_gpu = props->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    const bool takes_of_gpu = is_on_gpu && props->allocType == CU_MEM_ALLOCATION_TYPE_PINNED;
    return enter_gpu(to, is_on_gpu ? props->location.id : 0, [&](Driver& driver, Gpu& gpu) {
        if (props->handleTypes != CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_NOT_SUPPORTED;
        MemoryPool* pool = driver.pools.add(std::make_unique<MemoryPool>(
            driver.memory, is_on_gpu ? props->location.id : kNoDevice,
            takes_of_gpu ? gpu.number : device::kNobody, kPoolBlockBytes));
        pool->max_bytes = props->maxSize;
        *to = handle_of(pool);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
    return enter_pool(handle, [&](Driver& driver, MemoryPool& pool) {
        if (pool.is_default) return CUDA_ERROR_INVALID_VALUE;
        // What is still in use lives on, in a pool that has no handle any more.
        for (Gpu& gpu : driver.gpus)
            if (gpu.current_pool == &pool) gpu.current_pool = gpu.default_pool;
        pool.release_threshold = 0;
        pool.arena.trim(0);
        if (pool.arena.used_bytes() == 0) driver.pools.remove(&pool);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, std::size_t keep_bytes) {
    return enter_pool(handle, [&](Driver& driver, MemoryPool& pool) {
        pump(driver);
        pool.arena.trim(keep_bytes);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
    return enter_pool(handle, [&](Driver&, MemoryPool& pool) {
        if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (is_reuse(attribute)) {
            std::memcpy(&pool.reuse[attribute - 1], value, sizeof(int));
            return CUDA_SUCCESS;
        }
        cuuint64_t number = 0;
        std::memcpy(&number, value, sizeof(number));
        if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
            pool.release_threshold = number;
            return CUDA_SUCCESS;
        }
        // High-water marks may only be set back.
        if (number != 0) return CUDA_ERROR_INVALID_VALUE;
        if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)
            pool.reserved_high = pool.arena.reserved_bytes();
        else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
            pool.used_high = pool.arena.used_bytes();
        else
            return CUDA_ERROR_INVALID_VALUE;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void* value) {
    return enter_pool(handle, [&](Driver& driver, MemoryPool& pool) {
        if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
        pump(driver);
        if (is_reuse(attribute)) {
            std::memcpy(value, &pool.reuse[attribute - 1], sizeof(int));
            return CUDA_SUCCESS;
        }
        cuuint64_t number = 0;
        switch (attribute) {
            case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: number = pool.release_threshold; break;
            case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: number = pool.arena.reserved_bytes(); break;
            case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: number = pool.reserved_high; break;
            case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: number = pool.arena.used_bytes(); break;
            case CU_MEMPOOL_ATTR_USED_MEM_HIGH: number = pool.used_high; break;
            default: return CUDA_ERROR_INVALID_VALUE;
        }
        std::memcpy(value, &number, sizeof(number));
        return CUDA_SUCCESS;
    });
}

// Every GPU of the process reaches every pool of it.
CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* access, std::size_t count) {
    return enter_pool(handle, [&](Driver&, MemoryPool&) {
        return access == nullptr && count != 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle,
                            CUmemLocation* location) {
    return enter_pool(handle, [&](Driver&, MemoryPool&) {
        if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* to, CUdevice of) {
    return enter_gpu(to, of, [&](Driver&, Gpu& gpu) {
        *to = handle_of(gpu.default_pool);
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* to, CUdevice of) {
    return enter_gpu(to, of, [&](Driver&, Gpu& gpu) {
        *to = handle_of(gpu.current_pool);
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceSetMemPool(CUdevice of, CUmemoryPool handle) {
    return enter_gpu(handle, of, [&](Driver& driver, Gpu& gpu) {
        MemoryPool* pool = driver.pools.find(handle);
        if (pool == nullptr || pool->device != of) return CUDA_ERROR_INVALID_VALUE;
        gpu.current_pool = pool;
        return CUDA_SUCCESS;
    });
}
