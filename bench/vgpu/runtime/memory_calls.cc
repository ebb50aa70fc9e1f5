// SPDX-License-Identifier: Apache-2.0
//
// The runtime's calls that take, give back, show, copy and fill memory.
#include "runtime.h"

using namespace berth::bench;

namespace {

template <class T>
T attribute(CUpointer_attribute which, const void* pointer) {
    T value{};
    driver().cuPointerGetAttribute(&value, which, address(pointer));
    return value;
}

CUdeviceptr* address_of(void** pointer) { return reinterpret_cast<CUdeviceptr*>(pointer); }

}  // namespace

extern "C" {

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
    return call(driver().cuMemGetInfo, free, total);
}
cudaError_t cudaMalloc(void** to, std::size_t bytes) {
    return call(driver().cuMemAlloc, address_of(to), bytes);
}
cudaError_t cudaFree(void* pointer) {
    return pointer == nullptr ? remember(use_gpu()) : call(driver().cuMemFree, address(pointer));
}
cudaError_t cudaMallocAsync(void** to, std::size_t bytes, CUstream stream) {
    return call(driver().cuMemAllocAsync, address_of(to), bytes, stream);
}
cudaError_t cudaFreeAsync(void* pointer, CUstream stream) {
    return call(driver().cuMemFreeAsync, address(pointer), stream);
}
cudaError_t cudaMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void* value) {
    return call(driver().cuMemPoolGetAttribute, pool, which, value);
}
cudaError_t cudaMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute which, void* value) {
    return call(driver().cuMemPoolSetAttribute, pool, which, value);
}
cudaError_t cudaMemPoolTrimTo(CUmemoryPool pool, std::size_t keep) {
    return call(driver().cuMemPoolTrimTo, pool, keep);
}
cudaError_t cudaHostAlloc(void** to, std::size_t bytes, unsigned int flags) {
    return call(driver().cuMemHostAlloc, to, bytes, flags);
}
cudaError_t cudaFreeHost(void* pointer) { return call(driver().cuMemFreeHost, pointer); }

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* to, const void* pointer) {
    if (const CUresult result = use_gpu(); result != CUDA_SUCCESS) return remember(result);
    *to = {};
    const auto type = attribute<unsigned int>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, pointer);
    to->device = -2;  // what the documentation says of memory that CUDA does not know
    if (type == 0) return CUDA_SUCCESS;
    const bool is_managed = attribute<int>(CU_POINTER_ATTRIBUTE_IS_MANAGED, pointer) != 0;
    to->type = is_managed ? 3 : static_cast<int>(type);
    to->device = attribute<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer);
    to->devicePointer = attribute<void*>(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, pointer);
    to->hostPointer = attribute<void*>(CU_POINTER_ATTRIBUTE_HOST_POINTER, pointer);
    return CUDA_SUCCESS;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
    return call(driver().cuMemcpy, address(to), address(from), bytes);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            CUstream stream) {
    switch (kind) {
        case cudaMemcpyHostToDevice:
            return call(driver().cuMemcpyHtoDAsync, address(to), from, bytes, stream);
        case cudaMemcpyDeviceToHost:
            return call(driver().cuMemcpyDtoHAsync, to, address(from), bytes, stream);
        case cudaMemcpyDeviceToDevice:
            return call(driver().cuMemcpyDtoDAsync, address(to), address(from), bytes, stream);
        default: return call(driver().cuMemcpyAsync, address(to), address(from), bytes, stream);
    }
}
cudaError_t cudaMemset(void* to, int value, std::size_t count) {
    return call(driver().cuMemsetD8, address(to), static_cast<unsigned char>(value), count);
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t count, CUstream stream) {
    return call(driver().cuMemsetD8Async, address(to), static_cast<unsigned char>(value), count,
                stream);
}

}  // extern "C"
