// SPDX-License-Identifier: Apache-2.0
//
// Physical memory by handle (cuMemCreate and its kin). It is charged when it is made and given
// back when neither a handle nor a mapping of it is left, and no multicast object that it is bound
// to. Who imports it pays nothing.
#include <pthread.h>

#include <map>
#include <new>
#include <vector>

#include "vgpu/interposer/locked.h"
#include "vgpu/interposer/process/charged_call.h"

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
std::map<CUmemGenericAllocationHandle, Physical*> by_handle;
std::map<CUdeviceptr, Mapping> by_address;

// A multicast object: no memory of its own, but it holds what is bound to it.
struct Multicast {
    struct Binding {
        std::size_t offset = 0;
        Gpu gpu = kUnlimited;
        Physical* of = nullptr;
    };
    std::vector<Binding> bindings;
    std::uint64_t mappings = 0;
    bool is_released = false;
};
std::map<CUmemGenericAllocationHandle, Multicast> multicasts;
std::map<CUdeviceptr, CUmemGenericAllocationHandle> multicast_by_address;

void drop_unused(Physical* physical) {
    if (physical->handles > 0 || physical->mappings > 0) return;
    give(physical->gpu, physical->bytes);
    delete physical;
}

void unbind(const Multicast::Binding& binding) {
    --binding.of->mappings;
    drop_unused(binding.of);
}

void drop_unused_multicast(CUmemGenericAllocationHandle handle) {
    const auto object = multicasts.find(handle);
    if (!object->second.is_released || object->second.mappings > 0) return;
    for (const Multicast::Binding& binding : object->second.bindings) unbind(binding);
    multicasts.erase(object);
}

Physical* held_by(CUmemGenericAllocationHandle memory) {
    const auto known = by_handle.find(memory);
    return known == by_handle.end() ? nullptr : known->second;
}

Physical* mapped_at(CUdeviceptr pointer) {
    auto mapping = by_address.upper_bound(pointer);
    if (mapping == by_address.begin()) return nullptr;
    --mapping;
    return pointer < mapping->first + mapping->second.bytes ? mapping->second.of : nullptr;
}

// `call` asks the driver. Memory that is not here was never charged.
template <class Call>
CUresult bind(CUmemGenericAllocationHandle handle, std::size_t offset, Gpu gpu, Physical* physical,
              Call call) {
    const CUresult result = call();
    const auto object = multicasts.find(handle);
    if (result != CUDA_SUCCESS || object == multicasts.end() || physical == nullptr) return result;
    ++physical->mappings;
    or_lose_track([&] { object->second.bindings.push_back({offset, gpu, physical}); });
    return result;
}

Gpu gpu_of_memory(const Physical* physical) {
    return physical == nullptr ? kUnlimited : physical->gpu;
}

void unmap_multicasts(CUdeviceptr pointer, std::size_t bytes) {
    for (auto mapping = multicast_by_address.lower_bound(pointer);
         mapping != multicast_by_address.end() && mapping->first < pointer + bytes;) {
        const CUmemGenericAllocationHandle handle = mapping->second;
        mapping = multicast_by_address.erase(mapping);
        --multicasts.at(handle).mappings;
        drop_unused_multicast(handle);
    }
}

void add_handle(CUmemGenericAllocationHandle handle, Physical* physical) {
    or_lose_track([&] { by_handle[handle] = physical; });
    ++physical->handles;
}

CUresult create(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                const CUmemAllocationProp* prop, unsigned long long flags) {
    const RealDriver& real = load_real_driver();
    // The device is that of the request, never that of the current context: there may be none.
    const Gpu gpu = gpu_of(static_cast<CUdevice>(prop->location.id));
    if (!take(gpu, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = real.cuMemCreate(handle, bytes, prop, flags);
    if (result != CUDA_SUCCESS) {
        give(gpu, bytes);
        return result;
    }
    auto* physical = new (std::nothrow) Physical{gpu, bytes, 0, 0};
    if (physical != nullptr) add_handle(*handle, physical);
    return result;
}

}  // namespace

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp* prop, unsigned long long flags) {
    const RealDriver& real = load_real_driver();
    if (real.cuMemCreate == nullptr) return missing();
    if (!is_tenant() || handle == nullptr || prop == nullptr ||
        prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return real.cuMemCreate(handle, bytes, prop, flags);
    const Locked locked(lock);
    return create(handle, bytes, prop, flags);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    const RealDriver& real = load_real_driver();
    if (real.cuMemRelease == nullptr) return missing();
    const Locked locked(lock);
    const CUresult result = real.cuMemRelease(handle);
    const auto known = by_handle.find(handle);
    if (const auto object = multicasts.find(handle);
        result == CUDA_SUCCESS && object != multicasts.end()) {
        object->second.is_released = true;
        drop_unused_multicast(handle);
        return result;
    }
    if (result != CUDA_SUCCESS || known == by_handle.end()) return result;
    Physical* physical = known->second;
    --physical->handles;
    // While mapped, its handle comes back by cuMemRetainAllocationHandle.
    if (physical->handles == 0) by_handle.erase(known);
    drop_unused(physical);
    return result;
}

CUresult cuMemMap(CUdeviceptr pointer, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
    const RealDriver& real = load_real_driver();
    if (real.cuMemMap == nullptr) return missing();
    const Locked locked(lock);
    const CUresult result = real.cuMemMap(pointer, bytes, offset, handle, flags);
    if (const auto object = multicasts.find(handle);
        result == CUDA_SUCCESS && object != multicasts.end()) {
        ++object->second.mappings;
        or_lose_track([&] { multicast_by_address[pointer] = handle; });
        return result;
    }
    const auto known = by_handle.find(handle);
    if (result != CUDA_SUCCESS || known == by_handle.end()) return result;
    ++known->second->mappings;
    or_lose_track([&] { by_address[pointer] = {bytes, known->second}; });
    return result;
}

CUresult cuMemUnmap(CUdeviceptr pointer, std::size_t bytes) {
    const RealDriver& real = load_real_driver();
    if (real.cuMemUnmap == nullptr) return missing();
    const Locked locked(lock);
    const CUresult result = real.cuMemUnmap(pointer, bytes);
    if (result != CUDA_SUCCESS) return result;
    unmap_multicasts(pointer, bytes);
    // A range may hold several whole mappings.
    for (auto mapping = by_address.lower_bound(pointer);
         mapping != by_address.end() && mapping->first < pointer + bytes;) {
        Physical* physical = mapping->second.of;
        --physical->mappings;
        mapping = by_address.erase(mapping);
        drop_unused(physical);
    }
    return result;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
    const RealDriver& real = load_real_driver();
    if (real.cuMemRetainAllocationHandle == nullptr) return missing();
    const Locked locked(lock);
    const CUresult result = real.cuMemRetainAllocationHandle(handle, address);
    if (result != CUDA_SUCCESS || handle == nullptr) return result;
    Physical* physical = mapped_at(reinterpret_cast<CUdeviceptr>(address));
    if (physical != nullptr) add_handle(*handle, physical);
    return result;
}

CUresult cuMulticastCreate(CUmemGenericAllocationHandle* handle,
                           const CUmulticastObjectProp* prop) {
    const RealDriver& real = load_real_driver();
    if (real.cuMulticastCreate == nullptr) return missing();
    const Locked locked(lock);
    const CUresult result = real.cuMulticastCreate(handle, prop);
    if (result == CUDA_SUCCESS && handle != nullptr) or_lose_track([&] { multicasts[*handle]; });
    return result;
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, std::size_t offset,
                            CUmemGenericAllocationHandle memory, std::size_t memory_offset,
                            std::size_t bytes, unsigned long long flags) {
    const RealDriver& real = load_real_driver();
    if (real.cuMulticastBindMem == nullptr) return missing();
    const Locked locked(lock);
    Physical* physical = held_by(memory);
    return bind(handle, offset, gpu_of_memory(physical), physical, [&] {
        return real.cuMulticastBindMem(handle, offset, memory, memory_offset, bytes, flags);
    });
}

CUresult cuMulticastBindMem_v2(CUmemGenericAllocationHandle handle, CUdevice device,
                               std::size_t offset, CUmemGenericAllocationHandle memory,
                               std::size_t memory_offset, std::size_t bytes,
                               unsigned long long flags) {
    const RealDriver& real = load_real_driver();
    if (real.cuMulticastBindMem_v2 == nullptr) return missing();
    const Locked locked(lock);
    return bind(handle, offset, gpu_of(device), held_by(memory), [&] {
        return real.cuMulticastBindMem_v2(handle, device, offset, memory, memory_offset, bytes,
                                          flags);
    });
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, std::size_t offset,
                             CUdeviceptr memory, std::size_t bytes, unsigned long long flags) {
    const RealDriver& real = load_real_driver();
    if (real.cuMulticastBindAddr == nullptr) return missing();
    const Locked locked(lock);
    Physical* physical = mapped_at(memory);
    return bind(handle, offset, gpu_of_memory(physical), physical,
                [&] { return real.cuMulticastBindAddr(handle, offset, memory, bytes, flags); });
}

CUresult cuMulticastBindAddr_v2(CUmemGenericAllocationHandle handle, CUdevice device,
                                std::size_t offset, CUdeviceptr memory, std::size_t bytes,
                                unsigned long long flags) {
    const RealDriver& real = load_real_driver();
    if (real.cuMulticastBindAddr_v2 == nullptr) return missing();
    const Locked locked(lock);
    return bind(handle, offset, gpu_of(device), mapped_at(memory), [&] {
        return real.cuMulticastBindAddr_v2(handle, device, offset, memory, bytes, flags);
    });
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice device, std::size_t offset,
                           std::size_t bytes) {
    const RealDriver& real = load_real_driver();
    if (real.cuMulticastUnbind == nullptr) return missing();
    const Locked locked(lock);
    const CUresult result = real.cuMulticastUnbind(handle, device, offset, bytes);
    const auto object = multicasts.find(handle);
    if (result != CUDA_SUCCESS || object == multicasts.end()) return result;
    std::erase_if(object->second.bindings, [&](const Multicast::Binding& binding) {
        if (binding.gpu != gpu_of(device)) return false;
        if (binding.offset < offset || binding.offset >= offset + bytes) return false;
        unbind(binding);
        return true;
    });
    return result;
}

// It would hold what is bound to it on other machines too, which this machine cannot count: a share
// has none.
CUresult cuLogicalEndpointCreate(CUlogicalEndpointId id, const void* prop) {
    const RealDriver& real = load_real_driver();
    if (real.cuLogicalEndpointCreate == nullptr || is_tenant()) return missing();
    return real.cuLogicalEndpointCreate(id, prop);
}

CUresult cuLogicalEndpointImport(CUlogicalEndpointId id, const void* handle, unsigned int type) {
    const RealDriver& real = load_real_driver();
    if (real.cuLogicalEndpointImport == nullptr || is_tenant()) return missing();
    return real.cuLogicalEndpointImport(id, handle, type);
}
