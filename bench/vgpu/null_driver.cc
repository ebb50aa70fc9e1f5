// SPDX-License-Identifier: Apache-2.0
//
// A driver that does nothing, at once: one device, one context, addresses that only grow.
#include <dlfcn.h>

#include <string>

#include "vgpu/abi/cuda.h"

namespace {
CUdeviceptr next_address = 0x7000'0000'0000;
int the_context = 0;
CUcontext context() { return reinterpret_cast<CUcontext>(&the_context); }
}  // namespace

CUresult cuInit(unsigned int) { return CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int* count) { return *count = 1, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* device, int) { return *device = 0, CUDA_SUCCESS; }
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice) {
    *uuid = {};
    uuid->bytes[15] = 1;
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* to, CUdevice) { return *to = context(), CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxGetCurrent(CUcontext* to) { return *to = context(), CUDA_SUCCESS; }
CUresult cuCtxGetDevice(CUdevice* device) { return *device = 0, CUDA_SUCCESS; }
CUresult cuMemFree_v2(CUdeviceptr) { return CUDA_SUCCESS; }

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t bytes) {
    *pointer = next_address;
    next_address += (bytes + 511) / 512 * 512;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int,
                        unsigned int, unsigned int, unsigned int, CUstream, void**, void**) {
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int, cuuint64_t,
                             CUdriverProcAddressQueryResult*) {
    static void* const self = ::dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
    for (const char* suffix : {"_v2", ""}) {
        *function = ::dlsym(self, (std::string(symbol) + suffix).c_str());
        if (*function != nullptr) return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}
