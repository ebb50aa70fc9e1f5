// SPDX-License-Identifier: Apache-2.0
//
// Which functions of the driver do these libraries call? Found when first needed, as NVIDIA's own
// libraries find them, so that a library in front of the driver is in front of these too.
#pragma once

#include "../driver.h"

namespace berth::bench {

// The name that is asked for, and the function it means to programs for CUDA 12.0.
#define BERTH_DRIVER_CALLS(X)                                               \
    X(cuInit, cuInit)                                                       \
    X(cuDriverGetVersion, cuDriverGetVersion)                               \
    X(cuGetErrorName, cuGetErrorName)                                       \
    X(cuGetErrorString, cuGetErrorString)                                   \
    X(cuGetProcAddress, cuGetProcAddress_v2)                                \
    X(cuDeviceGetCount, cuDeviceGetCount)                                   \
    X(cuDeviceGetName, cuDeviceGetName)                                     \
    X(cuDeviceGetUuid, cuDeviceGetUuid_v2)                                  \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute)                           \
    X(cuDeviceTotalMem, cuDeviceTotalMem_v2)                                \
    X(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId)                             \
    X(cuDeviceCanAccessPeer, cuDeviceCanAccessPeer)                         \
    X(cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool)                 \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)                   \
    X(cuCtxSetCurrent, cuCtxSetCurrent)                                     \
    X(cuCtxSynchronize, cuCtxSynchronize)                                   \
    X(cuProfilerStart, cuProfilerStart)                                     \
    X(cuProfilerStop, cuProfilerStop)                                       \
    X(cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange)             \
    X(cuMemGetInfo, cuMemGetInfo_v2)                                        \
    X(cuMemAlloc, cuMemAlloc_v2)                                            \
    X(cuMemFree, cuMemFree_v2)                                              \
    X(cuMemAllocAsync, cuMemAllocAsync)                                     \
    X(cuMemFreeAsync, cuMemFreeAsync)                                       \
    X(cuMemPoolGetAttribute, cuMemPoolGetAttribute)                         \
    X(cuMemPoolSetAttribute, cuMemPoolSetAttribute)                         \
    X(cuMemPoolTrimTo, cuMemPoolTrimTo)                                     \
    X(cuMemHostAlloc, cuMemHostAlloc)                                       \
    X(cuMemFreeHost, cuMemFreeHost)                                         \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2)                              \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2)                              \
    X(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2)                              \
    X(cuMemcpyAsync, cuMemcpyAsync)                                         \
    X(cuMemcpy, cuMemcpy)                                                   \
    X(cuMemsetD8, cuMemsetD8_v2)                                            \
    X(cuMemsetD8Async, cuMemsetD8Async)                                     \
    X(cuPointerGetAttribute, cuPointerGetAttribute)                         \
    X(cuStreamCreateWithPriority, cuStreamCreateWithPriority)               \
    X(cuStreamDestroy, cuStreamDestroy_v2)                                  \
    X(cuStreamQuery, cuStreamQuery)                                         \
    X(cuStreamSynchronize, cuStreamSynchronize)                             \
    X(cuStreamWaitEvent, cuStreamWaitEvent)                                 \
    X(cuStreamGetPriority, cuStreamGetPriority)                             \
    X(cuStreamIsCapturing, cuStreamIsCapturing)                             \
    X(cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_v2)                    \
    X(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode) \
    X(cuLaunchHostFunc, cuLaunchHostFunc)                                   \
    X(cuEventCreate, cuEventCreate)                                         \
    X(cuEventDestroy, cuEventDestroy_v2)                                    \
    X(cuEventRecord, cuEventRecord)                                         \
    X(cuEventRecordWithFlags, cuEventRecordWithFlags)                       \
    X(cuEventQuery, cuEventQuery)                                           \
    X(cuEventSynchronize, cuEventSynchronize)                               \
    X(cuEventElapsedTime, cuEventElapsedTime)                               \
    X(cuLibraryLoadData, cuLibraryLoadData)                                 \
    X(cuLibraryGetKernel, cuLibraryGetKernel)                               \
    X(cuKernelGetFunction, cuKernelGetFunction)                             \
    X(cuFuncGetAttribute, cuFuncGetAttribute)                               \
    X(cuFuncSetAttribute, cuFuncSetAttribute)                               \
    X(cuLaunchKernel, cuLaunchKernel)                                       \
    X(cuLaunchKernelEx, cuLaunchKernelEx)                                   \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor)

struct Driver {
#define BERTH_MEMBER(name, function) \
    decltype(&::function) name = look_up<decltype(::function)>(#name);
    BERTH_DRIVER_CALLS(BERTH_MEMBER)
#undef BERTH_MEMBER
};

inline const Driver& driver() {
    static const Driver found;
    return found;
}

// Loads PTX for every context that comes, and answers its only kernel, `name`.
inline CUresult load_kernel(const char* ptx, const char* name, CUkernel* to) {
    CUlibrary library = nullptr;
    const CUresult result =
        driver().cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (result != CUDA_SUCCESS) return result;
    return driver().cuLibraryGetKernel(to, library, name);
}

// Where a launch takes a function it takes a kernel as well.
inline CUfunction as_function(CUkernel kernel) { return reinterpret_cast<CUfunction>(kernel); }

}  // namespace berth::bench
