// SPDX-License-Identifier: Apache-2.0
//
// Physical memory by handle (cuMemCreate and its kin). It is charged when it is made and given
// back when neither a handle nor a mapping of it is left, and no multicast object that it is bound
// to. Who imports it pays nothing.
#include <pthread.h>
#include <stdlib.h>

#include <new>
#include <optional>

#include "vgpu/interposer/locked.h"
#include "vgpu/interposer/process/charged_call.h"
#include "vgpu/interposer/sorted.h"

using namespace berth::vgpu::interposer;

namespace {

struct Physical {
    Gpu gpu = kUnlimited;  // unlimited as well: memory of the host, or of another process
    std::uint64_t bytes = 0;
    std::uint64_t handles = 0;
    std::uint64_t mappings = 0;  // and bindings
};

struct Mapping {
    std::uint64_t bytes = 0;
    Physical* of = nullptr;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// What finds no host memory here stays charged: that is never less than what is held.
Sorted<CUmemGenericAllocationHandle, Physical*> by_handle;
Sorted<CUdeviceptr, Mapping> by_address;

// A multicast object: no memory of its own, but it holds what is bound to it.
struct Multicast {
    std::uint64_t mappings = 0;
    bool is_released = false;
};
struct Binding {
    CUmemGenericAllocationHandle to = 0;
    std::size_t offset = 0;
    Gpu gpu = kUnlimited;
    Physical* of = nullptr;
};
Sorted<CUmemGenericAllocationHandle, Multicast> multicasts;
Sorted<CUdeviceptr, CUmemGenericAllocationHandle> multicast_by_address;
Sorted<std::uint64_t, Binding> bindings;  // by when they were made
std::uint64_t bindings_made = 0;

void drop_unused(Physical* physical) {
    if (physical->handles > 0 || physical->mappings > 0) return;
    give(physical->gpu, physical->bytes);
    ::free(physical);
}

template <class Which>
void unbind_those(Which is_one) {
    for (auto* entry = bindings.begin(); entry != bindings.end();) {
        const Binding binding = entry->value;
        if (!is_one(binding)) {
            ++entry;
            continue;
        }
        bindings.erase(entry, entry + 1);  // the next one is here now
        --binding.of->mappings;
        drop_unused(binding.of);
    }
}

void drop_unused_multicast(CUmemGenericAllocationHandle handle) {
    const Multicast* object = multicasts.find(handle);
    if (!object->is_released || object->mappings > 0) return;
    unbind_those([&](const Binding& binding) { return binding.to == handle; });
    multicasts.erase(handle);
}

Physical* held_by(CUmemGenericAllocationHandle memory) {
    Physical* const* known = by_handle.find(memory);
    return known == nullptr ? nullptr : *known;
}

Physical* mapped_at(CUdeviceptr pointer) {
    const auto* mapping = by_address.from(pointer + 1);
    if (mapping == by_address.begin()) return nullptr;
    --mapping;
    return pointer < mapping->key + mapping->value.bytes ? mapping->value.of : nullptr;
}

void unmap_multicasts(CUdeviceptr pointer, std::size_t bytes) {
    auto* const first = multicast_by_address.from(pointer);
    auto* const last = multicast_by_address.from(pointer + bytes);
    for (const auto* mapping = first; mapping != last; ++mapping) {
        --multicasts.find(mapping->value)->mappings;
        drop_unused_multicast(mapping->value);
    }
    multicast_by_address.erase(first, last);
}

void add_handle(CUmemGenericAllocationHandle handle, Physical* physical) {
    by_handle.put(handle, physical);
    ++physical->handles;
}

template <class Call>
CUresult create_physical(Call call, CUmemGenericAllocationHandle* handle, std::size_t bytes,
                         const CUmemAllocationProp* prop) {
    if (!is_tenant() || handle == nullptr || prop == nullptr ||
        prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return call();
    // The device is that of the request, never that of the current context: there may be none.
    const Gpu gpu = gpu_of(static_cast<CUdevice>(prop->location.id));
    if (!take(gpu, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    const Locked locked(lock);
    const CUresult result = call();
    if (result != CUDA_SUCCESS) {
        give(gpu, bytes);
        return result;
    }
    void* memory = ::malloc(sizeof(Physical));
    if (memory != nullptr) add_handle(*handle, new (memory) Physical{gpu, bytes, 0, 0});
    return result;
}

template <class Call>
CUresult release_physical(Call call, CUmemGenericAllocationHandle handle) {
    const Locked locked(lock);
    const CUresult result = call();
    if (result != CUDA_SUCCESS) return result;
    if (Multicast* object = multicasts.find(handle)) {
        object->is_released = true;
        drop_unused_multicast(handle);
        return result;
    }
    Physical* physical = held_by(handle);
    if (physical == nullptr) return result;
    --physical->handles;
    // While mapped, its handle comes back by cuMemRetainAllocationHandle.
    if (physical->handles == 0) by_handle.erase(handle);
    drop_unused(physical);
    return result;
}

template <class Call>
CUresult map(Call call, CUdeviceptr pointer, std::size_t bytes,
             CUmemGenericAllocationHandle handle) {
    const Locked locked(lock);
    const CUresult result = call();
    if (result != CUDA_SUCCESS) return result;
    if (Multicast* object = multicasts.find(handle)) {
        ++object->mappings;
        multicast_by_address.put(pointer, handle);
    } else if (Physical* physical = held_by(handle)) {
        ++physical->mappings;
        by_address.put(pointer, {bytes, physical});
    }
    return result;
}

template <class Call>
CUresult unmap(Call call, CUdeviceptr pointer, std::size_t bytes) {
    const Locked locked(lock);
    const CUresult result = call();
    if (result != CUDA_SUCCESS) return result;
    unmap_multicasts(pointer, bytes);
    // A range may hold several whole mappings.
    auto* const first = by_address.from(pointer);
    auto* const last = by_address.from(pointer + bytes);
    for (const auto* mapping = first; mapping != last; ++mapping) {
        --mapping->value.of->mappings;
        drop_unused(mapping->value.of);
    }
    by_address.erase(first, last);
    return result;
}

template <class Call>
CUresult retain_physical(Call call, CUmemGenericAllocationHandle* handle, void* address) {
    const Locked locked(lock);
    const CUresult result = call();
    if (result != CUDA_SUCCESS || handle == nullptr) return result;
    Physical* physical = mapped_at(reinterpret_cast<CUdeviceptr>(address));
    if (physical != nullptr) add_handle(*handle, physical);
    return result;
}

template <class Call>
CUresult create_multicast(Call call, CUmemGenericAllocationHandle* handle) {
    const Locked locked(lock);
    const CUresult result = call();
    if (result == CUDA_SUCCESS && handle != nullptr) multicasts.put(*handle, {});
    return result;
}

// `find` finds what is bound, for `device` or for its own GPU. Memory that is not here was never
// charged.
template <class Call>
CUresult bind(Call call, CUmemGenericAllocationHandle handle, std::size_t offset,
              Physical* (*find)(CUdeviceptr), CUdeviceptr memory,
              std::optional<CUdevice> device = {}) {
    const Locked locked(lock);
    Physical* const physical = find(memory);
    const CUresult result = call();
    if (result != CUDA_SUCCESS || multicasts.find(handle) == nullptr || physical == nullptr)
        return result;
    ++physical->mappings;
    const Gpu gpu = device ? gpu_of(*device) : physical->gpu;
    bindings.put(bindings_made++, {handle, offset, gpu, physical});
    return result;
}

template <class Call>
CUresult unbind(Call call, CUmemGenericAllocationHandle handle, CUdevice device, std::size_t offset,
                std::size_t bytes) {
    const Locked locked(lock);
    const CUresult result = call();
    if (result != CUDA_SUCCESS) return result;
    unbind_those([&](const Binding& binding) {
        return binding.to == handle && binding.gpu == gpu_of(device) && binding.offset >= offset &&
               binding.offset < offset + bytes;
    });
    return result;
}

// A logical endpoint would hold what is bound to it on other machines too, which this machine
// cannot count.
template <class Call>
CUresult refuse_in_share(Call call) {
    return is_tenant() ? missing() : call();
}

}  // namespace

#include "vgpu/interposer/generated/handle_hooks.inc"
