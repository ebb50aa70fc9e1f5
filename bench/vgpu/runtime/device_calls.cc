// SPDX-License-Identifier: Apache-2.0
//
// The runtime's calls for versions, errors and devices.
#include <array>
#include <atomic>

#include "runtime.h"

using namespace berth::bench;

namespace berth::bench {
namespace {

constexpr std::size_t kGpusMax = 64;

thread_local cudaError_t last_error = CUDA_SUCCESS;
thread_local int device = 0;
thread_local bool is_used = false;  // its context is current on this thread

CUresult initialise() {
    static const CUresult result = driver().cuInit(0);
    return result;
}

int attribute(CUdevice_attribute which, int of) {
    int value = 0;
    remember(driver().cuDeviceGetAttribute(&value, which, of));
    return value;
}

}  // namespace

cudaError_t remember(cudaError_t result) {
    if (result != CUDA_SUCCESS) last_error = result;
    return result;
}

CUresult use_gpu() {
    if (is_used) return CUDA_SUCCESS;
    if (const CUresult result = initialise(); result != CUDA_SUCCESS) return result;
    static std::array<std::atomic<CUcontext>, kGpusMax> contexts;
    std::atomic<CUcontext>& shared = contexts[static_cast<std::size_t>(device)];
    CUcontext context = shared;
    if (context == nullptr) {
        const CUresult result = driver().cuDevicePrimaryCtxRetain(&context, device);
        if (result != CUDA_SUCCESS) return result;
        shared = context;
    }
    const CUresult result = driver().cuCtxSetCurrent(context);
    is_used = result == CUDA_SUCCESS;
    return result;
}

}  // namespace berth::bench

extern "C" {

// The runtime that PyTorch's packages of CUDA 13.2 bring.
cudaError_t cudaRuntimeGetVersion(int* version) { return *version = 13020, CUDA_SUCCESS; }
cudaError_t cudaDriverGetVersion(int* version) {
    return remember(driver().cuDriverGetVersion(version));
}

cudaError_t cudaGetLastError() {
    const cudaError_t last = last_error;
    last_error = CUDA_SUCCESS;
    return last;
}
cudaError_t cudaPeekAtLastError() { return last_error; }
const char* cudaGetErrorName(cudaError_t error) {
    const char* name = nullptr;
    driver().cuGetErrorName(error, &name);
    return name != nullptr ? name : "unrecognized error code";
}
const char* cudaGetErrorString(cudaError_t error) {
    const char* text = nullptr;
    driver().cuGetErrorString(error, &text);
    return text != nullptr ? text : "unrecognized error code";
}

// What the driver has not is no error: `status` says it.
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                             unsigned int version, unsigned long long flags,
                                             CUdriverProcAddressQueryResult* status) {
    const CUresult result =
        driver().cuGetProcAddress(symbol, function, static_cast<int>(version), flags, status);
    return result == CUDA_ERROR_NOT_FOUND ? CUDA_SUCCESS : remember(result);
}

cudaError_t cudaGetDeviceCount(int* count) {
    *count = 0;
    const CUresult result = initialise();
    return remember(result != CUDA_SUCCESS ? result : driver().cuDeviceGetCount(count));
}
cudaError_t cudaGetDevice(int* to) { return *to = device, CUDA_SUCCESS; }
cudaError_t cudaSetDevice(int to) {
    int count = 0;
    if (const cudaError_t result = cudaGetDeviceCount(&count); result != CUDA_SUCCESS)
        return result;
    if (to < 0 || to >= count) return remember(CUDA_ERROR_INVALID_DEVICE);
    if (device != to) is_used = false;
    device = to;
    return remember(use_gpu());
}
cudaError_t cudaDeviceSynchronize() { return call(driver().cuCtxSynchronize); }
cudaError_t cudaProfilerStart() { return call(driver().cuProfilerStart); }
cudaError_t cudaProfilerStop() { return call(driver().cuProfilerStop); }

cudaError_t cudaDeviceGetAttribute(int* value, CUdevice_attribute which, int of) {
    const CUresult result = initialise();
    return remember(result != CUDA_SUCCESS ? result
                                           : driver().cuDeviceGetAttribute(value, which, of));
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int of) {
    return call(driver().cuDeviceGetPCIBusId, id, length, of);
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int of, int peer) {
    return call(driver().cuDeviceCanAccessPeer, can, of, peer);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return call(driver().cuCtxGetStreamPriorityRange, least, greatest);
}
cudaError_t cudaDeviceGetDefaultMemPool(CUmemoryPool* pool, int of) {
    return call(driver().cuDeviceGetDefaultMemPool, pool, of);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int of) {
    if (const CUresult result = initialise(); result != CUDA_SUCCESS) return remember(result);
    cudaDeviceProp p{};
    CUresult result = driver().cuDeviceGetName(p.name, sizeof(p.name), of);
    if (result == CUDA_SUCCESS) result = driver().cuDeviceGetUuid(&p.uuid, of);
    if (result == CUDA_SUCCESS) result = driver().cuDeviceTotalMem(&p.totalGlobalMem, of);
    if (result != CUDA_SUCCESS) return remember(result);
    const auto ask = [&](unsigned int number) {
        return attribute(static_cast<CUdevice_attribute>(number), of);
    };
    const auto bytes = [&](CUdevice_attribute which) {
        return static_cast<std::size_t>(attribute(which, of));
    };
    p.sharedMemPerBlock = bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    p.sharedMemPerBlockOptin = bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    p.sharedMemPerMultiprocessor = bytes(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    p.totalConstMem = bytes(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    p.memPitch = bytes(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    p.textureAlignment = bytes(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    p.regsPerBlock = ask(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    p.regsPerMultiprocessor = ask(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
    p.warpSize = ask(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    p.maxThreadsPerBlock = ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    p.maxThreadsPerMultiProcessor = ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    for (unsigned int i = 0; i < 3; ++i) {
        p.maxThreadsDim[i] = ask(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i);
        p.maxGridSize[i] = ask(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + i);
    }
    p.major = ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    p.minor = ask(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    p.multiProcessorCount = ask(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    p.integrated = ask(CU_DEVICE_ATTRIBUTE_INTEGRATED);
    p.pciBusID = ask(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
    p.pciDeviceID = ask(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
    p.pciDomainID = ask(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
    p.l2CacheSize = ask(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    *to = p;
    return CUDA_SUCCESS;
}

}  // extern "C"
