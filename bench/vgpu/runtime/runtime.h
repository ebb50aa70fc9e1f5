// SPDX-License-Identifier: Apache-2.0
//
// What of CUDA's runtime library is here: its types, and how a call of it becomes one of the
// driver?
//
// Our own declarations, from the public documentation of the runtime API (CUDA 13). Errors have the
// numbers of the driver's; streams, events, pools and kernels are the driver's own handles.
#pragma once

#include <cstddef>

#include "driver.h"

using cudaError_t = CUresult;

struct dim3 {
    unsigned int x, y, z;
};

enum cudaMemcpyKind : unsigned int {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4,
};

// Of 1,008 bytes; what PyTorch does not read has no name here.
struct cudaDeviceProp {
    char name[256];
    CUuuid uuid;
    char unnamed_1[16];
    std::size_t totalGlobalMem;
    std::size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    std::size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    std::size_t totalConstMem;
    int major;
    int minor;
    std::size_t textureAlignment;
    std::size_t unnamed_2;
    int multiProcessorCount;
    int integrated;
    char unnamed_3[176];
    int pciBusID;
    int pciDeviceID;
    int pciDomainID;
    char unnamed_4[16];
    int l2CacheSize;
    int unnamed_5;
    int maxThreadsPerMultiProcessor;
    char unnamed_6[16];
    std::size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    char unnamed_7[36];
    std::size_t sharedMemPerBlockOptin;
    char unnamed_8[328];
};
static_assert(sizeof(cudaDeviceProp) == 1008 && offsetof(cudaDeviceProp, pciBusID) == 568 &&
              offsetof(cudaDeviceProp, sharedMemPerBlockOptin) == 672);

struct cudaFuncAttributes {
    std::size_t sharedSizeBytes;
    std::size_t constSizeBytes;
    std::size_t localSizeBytes;
    int maxThreadsPerBlock;
    int numRegs;
    int ptxVersion;
    int binaryVersion;
    int cacheModeCA;
    int maxDynamicSharedSizeBytes;
    char unnamed[96];
};

struct cudaPointerAttributes {
    int type;  // 0 unknown, 1 host, 2 device, 3 managed
    int device;
    void* devicePointer;
    void* hostPointer;
    char unnamed[64];
};

struct cudaLaunchConfig_t {
    dim3 gridDim;
    dim3 blockDim;
    std::size_t dynamicSmemBytes;
    CUstream stream;
    CUlaunchAttribute* attrs;
    unsigned int numAttrs;
};

namespace berth::bench {

// What cudaGetLastError() of this thread answers: keeps it, and answers `result`.
cudaError_t remember(cudaError_t result);

// Makes the primary context of this thread's GPU current, when it is not yet.
CUresult use_gpu();

// The whole of most calls: one of the driver, in the thread's context.
template <class... Parameters, class... Arguments>
cudaError_t call(CUresult (*function)(Parameters...), Arguments... arguments) {
    const CUresult result = use_gpu();
    return remember(result != CUDA_SUCCESS ? result : function(arguments...));
}

inline CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace berth::bench
