// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/process/pools.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "vgpu/interposer/complain.h"
#include "vgpu/interposer/locked.h"
#include "vgpu/interposer/process/charged_call.h"
#include "vgpu/interposer/sorted.h"

namespace berth::vgpu::interposer {
namespace {

// Drivers grow their pools by this much or by a request that is larger.
constexpr std::uint64_t kGrowth = 32U << 20U;

struct Pool {
    Gpu gpu = kUnlimited;
    std::uint64_t charged = 0;
    bool is_destroyed = false;  // its blocks in use are given back one by one
    bool has_freed = false;     // since it was looked at
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Sorted<CUmemoryPool, Pool> pools;
std::atomic<bool> have_freed{false};  // some of them
std::atomic<bool> graphs_allocate{false};
std::uint64_t graph_charged[ledger::kGpusMax];

std::uint64_t attribute(CUmemoryPool pool, CUmemPool_attribute which) {
    cuuint64_t value = 0;
    const RealDriver& real = load_real_driver();
    return real.cuMemPoolGetAttribute(pool, which, &value) == CUDA_SUCCESS ? value : 0;
}

std::uint64_t reserved_by(CUmemoryPool pool) {
    return attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
}

// Makes the charge what the pool reserves. False when it grew past the limit; then it is charged
// as before.
bool settle(CUmemoryPool handle, Pool& pool, Refused refused = Refused::Unsaid) {
    if (pool.gpu == kUnlimited) return true;
    const std::uint64_t reserved = reserved_by(handle);
    if (reserved > pool.charged && !take_at_once(pool.gpu, reserved - pool.charged, refused))
        return false;
    if (reserved < pool.charged) give(pool.gpu, pool.charged - reserved);
    pool.charged = reserved;
    return true;
}

// What is not used of that. It may be there in pieces: the driver knows.
std::uint64_t idle_of(CUmemoryPool handle, std::uint64_t reserved) {
    return reserved - std::min(attribute(handle, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), reserved);
}

// What has to be charged before the pool may hand out `bytes`: what it grew by unseen, and may grow
// by for them.
std::uint64_t missing_for(CUmemoryPool handle, Pool& pool, std::uint64_t bytes) {
    const std::uint64_t reserved = reserved_by(handle);
    if (reserved < pool.charged) give(pool.gpu, std::exchange(pool.charged, reserved) - reserved);
    const std::uint64_t growth =
        idle_of(handle, reserved) >= bytes ? 0 : (bytes + kGrowth - 1) / kGrowth * kGrowth;
    return reserved - pool.charged + growth;
}

// Charges what is missing with what there is now; trims the pool first if that does not fit.
bool make_room_at_once(CUmemoryPool handle, Pool& pool, std::uint64_t bytes) {
    for (const bool is_last : {false, true}) {
        const std::uint64_t missing = missing_for(handle, pool, bytes);
        if (take_at_once(pool.gpu, missing, Refused::Unsaid)) {
            pool.charged += missing;
            return true;
        }
        if (!is_last) load_real_driver().cuMemPoolTrimTo(handle, 0);
    }
    return false;
}

// Of one that the program has not made: a device's own, or one of memory that no GPU has.
Gpu gpu_of_default(CUmemoryPool handle) {
    const RealDriver& real = load_real_driver();
    int count = 0;
    if (real.cuDeviceGetCount(&count) != CUDA_SUCCESS) return kNotGiven;
    for (CUdevice device = 0; device < count; ++device) {
        CUmemoryPool own = nullptr;
        if (real.cuDeviceGetDefaultMemPool(&own, device) == CUDA_SUCCESS && own == handle)
            return gpu_of(device);
    }
    return kUnlimited;
}

// nullptr when there is no host memory for it. The caller has the lock.
Pool* known_pool(CUmemoryPool handle) {
    Pool* const known = pools.find(handle);
    return known != nullptr ? known
                            : pools.put(handle, Pool{gpu_of_default(handle), 0, false, false});
}

// One allocation out of a pool.
struct Request {
    CUmemoryPool pool = nullptr;
    CUdeviceptr* pointer = nullptr;
    std::uint64_t bytes = 0;
    CUcontext context = nullptr;
};

// Out of a pool that has been charged for it. `call` allocates, `undo` frees again in the order of
// the same stream.
template <class Call, class Undo>
CUresult allocate(const Request& request, Pool& pool, Call call, Undo undo) {
    const CUresult result = call();
    if (result != CUDA_SUCCESS) {
        settle(request.pool, pool);
        return result;
    }
    const bool fits = settle(request.pool, pool, Refused::Said);
    if (fits && remember({*request.pointer, request.context, request.bytes, request.pool, pool.gpu,
                          Kind::memory}))
        return result;
    undo();
    load_real_driver().cuMemPoolTrimTo(request.pool, 0);
    settle(request.pool, pool);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

// Nothing is locked while it waits: what another thread gives back to a pool may be the room.
template <class Call, class Undo>
CUresult pool_call(const Request& request, Call call, Undo undo) {
    Gpu gpu = kUnlimited;
    std::uint64_t missing = 0;
    {
        const Locked locked(lock);
        Pool* const pool = known_pool(request.pool);
        if (pool == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
        gpu = pool->gpu;
        if (gpu == kUnlimited) return call();
        if (make_room_at_once(request.pool, *pool, request.bytes))
            return allocate(request, *pool, call, undo);
        missing = missing_for(request.pool, *pool, request.bytes);
    }
    const bool is_taken = take(gpu, missing);
    const Locked locked(lock);
    Pool* const pool = pools.find(request.pool);
    const bool may_fit =
        is_taken || idle_of(request.pool, reserved_by(request.pool)) >= request.bytes;
    if (pool == nullptr || pool->is_destroyed || !may_fit) {
        if (is_taken) give(gpu, missing);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (is_taken) pool->charged += missing;
    return allocate(request, *pool, call, undo);
}

// Freed in the order of a stream, it is not free before the program waits.
void note_freed(const Block& block, bool is_at_once) {
    const Locked locked(lock);
    Pool* const known = pools.find(block.pool);
    if (known == nullptr) return;
    Pool& pool = *known;
    if (pool.is_destroyed) {
        const std::uint64_t back = std::min(pool.charged, block.bytes);
        give(pool.gpu, back);
        pool.charged -= back;
    } else if (is_at_once) {
        settle(block.pool, pool);
    } else {
        pool.has_freed = have_freed = true;
    }
}

CUmemoryPool current_pool() {
    const RealDriver& real = load_real_driver();
    CUdevice device = 0;
    CUmemoryPool pool = nullptr;
    if (real.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
        real.cuDeviceGetMemPool(&pool, device) != CUDA_SUCCESS)
        return nullptr;
    return pool;
}

}  // namespace

void settle_pool(const Block& block) { note_freed(block, true); }

void settle_freed_pools() {
    if (!have_freed.load(std::memory_order_relaxed)) return;
    const Locked locked(lock);
    have_freed = false;
    for (auto& [handle, pool] : pools) {
        if (std::exchange(pool.has_freed, false) && !pool.is_destroyed) settle(handle, pool);
    }
}

void expect_graph_memory() { graphs_allocate = true; }

void settle_graph_memory(Gpu gpu) {
    if (gpu < 0 || !graphs_allocate.load(std::memory_order_relaxed)) return;
    const RealDriver& real = load_real_driver();
    CUdevice device = 0;
    cuuint64_t reserved = 0;
    const Locked locked(lock);
    if (real.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
        real.cuDeviceGetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
                                          &reserved) != CUDA_SUCCESS)
        return;
    std::uint64_t& charged = graph_charged[gpu];
    if (reserved > charged && !take_at_once(gpu, reserved - charged, Refused::Said))
        take_regardless(gpu, reserved - charged);
    if (reserved < charged) give(gpu, charged - reserved);
    charged = reserved;
}

namespace {

template <class Call>
CUresult allocate_async(Call call, CUdeviceptr* pointer, std::size_t bytes, CUstream stream,
                        CUmemoryPool pool = nullptr) {
    if (!is_tenant() || pointer == nullptr || bytes == 0) return call();
    if (is_capturing(stream)) {
        expect_graph_memory();
        return call();
    }
    const CUmemoryPool from = pool == nullptr ? current_pool() : pool;
    if (from == nullptr) return call();
    return pool_call({from, pointer, bytes, here().context}, call,
                     [&] { real_driver.cuMemFreeAsync(*pointer, stream); });
}

template <class Call>
CUresult allocate_from(Call call, CUmemoryPool pool, CUdeviceptr* pointer, std::size_t bytes,
                       CUstream stream) {
    return pool == nullptr ? call() : allocate_async(call, pointer, bytes, stream, pool);
}

template <class Call>
CUresult free_async(Call call, CUdeviceptr pointer) {
    return freeing_call(Kind::memory, pointer, call,
                        [](const Block& block) { note_freed(block, false); });
}

template <class Call>
CUresult create_pool(Call call, CUmemoryPool* pool, const CUmemPoolProps* props) {
    const CUresult result = call();
    if (result != CUDA_SUCCESS || !is_tenant() || pool == nullptr || props == nullptr)
        return result;
    const bool is_of_gpu = props->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
                           props->allocType == CU_MEM_ALLOCATION_TYPE_PINNED;
    const Gpu gpu = is_of_gpu ? gpu_of(props->location.id) : kUnlimited;
    const Locked locked(lock);
    if (pools.put(*pool, Pool{gpu, 0, false, false}) != nullptr) return result;
    real_driver.cuMemPoolDestroy(*pool);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

template <class Call>
CUresult destroy_pool(Call call, CUmemoryPool handle) {
    const Locked locked(lock);
    Pool* const known = pools.find(handle);
    if (known == nullptr) return call();
    const std::uint64_t used = attribute(handle, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    const CUresult result = call();
    if (result != CUDA_SUCCESS) return result;
    Pool& pool = *known;
    const std::uint64_t idle = pool.charged - std::min(used, pool.charged);
    give(pool.gpu, idle);
    pool.charged -= idle;
    pool.is_destroyed = true;
    if (pool.charged == 0) pools.erase(handle);
    return result;
}

template <class Call>
CUresult trim_pool(Call call, CUmemoryPool pool) {
    const CUresult result = call();
    Block any;
    any.pool = pool;
    settle_pool(any);
    return result;
}

template <class Call>
CUresult trim_graphs(Call call) {
    const CUresult result = call();
    settle_graph_memory(here().gpu);
    return result;
}

// It may be one that allocates.
template <class Call>
CUresult add_node(Call call) {
    expect_graph_memory();
    return call();
}

// What a graph allocates is taken at its first launch, or already here.
template <class Call>
CUresult upload_graph(Call call) {
    const CUresult result = call();
    if (is_tenant()) settle_graph_memory(here().gpu);
    return result;
}

}  // namespace
}  // namespace berth::vgpu::interposer

using namespace berth::vgpu::interposer;

#include "vgpu/interposer/generated/pools_hooks.inc"
