// SPDX-License-Identifier: Apache-2.0
//
// Which functions of the driver do the hooks call? It is loaded on the first call, from where
// vgpu/behind finds it.
#pragma once

#include <atomic>

#include "vgpu/abi/cuda.h"
#include "vgpu/interposer/driver/calls.h"

// Second names of functions that the hooks know, for the per-thread default stream.
extern "C" {
#pragma GCC visibility push(default)
decltype(cuMemAllocAsync) cuMemAllocAsync_ptsz;
decltype(cuMemAllocFromPoolAsync) cuMemAllocFromPoolAsync_ptsz;
decltype(cuMemFreeAsync) cuMemFreeAsync_ptsz;
decltype(cuLaunchKernel) cuLaunchKernel_ptsz;
decltype(cuLaunchKernelEx) cuLaunchKernelEx_ptsz;
decltype(cuLaunchCooperativeKernel) cuLaunchCooperativeKernel_ptsz;
decltype(cuGraphLaunch) cuGraphLaunch_ptsz;
decltype(cuGraphUpload) cuGraphUpload_ptsz;
decltype(cuStreamSynchronize) cuStreamSynchronize_ptsz;
decltype(cuMemcpyDtoH_v2) cuMemcpyDtoH_v2_ptds;
decltype(cuDevicePrimaryCtxRelease_v2) cuDevicePrimaryCtxRelease;
decltype(cuDevicePrimaryCtxReset_v2) cuDevicePrimaryCtxReset;
#pragma GCC visibility pop
}

namespace berth::vgpu::interposer {

// What the hooks call. A function that the driver lacks is null.
#define BERTH_REAL_FUNCTIONS(X)             \
    X(cuInit)                               \
    X(cuGetProcAddress)                     \
    X(cuGetProcAddress_v2)                  \
    X(cuDeviceGet)                          \
    X(cuDeviceGetCount)                     \
    X(cuDeviceGetUuid)                      \
    X(cuDeviceGetUuid_v2)                   \
    X(cuDeviceTotalMem_v2)                  \
    X(cuMemGetInfo_v2)                      \
    X(cuDevicePrimaryCtxRetain)             \
    X(cuDevicePrimaryCtxRelease)            \
    X(cuDevicePrimaryCtxRelease_v2)         \
    X(cuDevicePrimaryCtxReset)              \
    X(cuDevicePrimaryCtxReset_v2)           \
    X(cuCtxCreate_v2)                       \
    X(cuCtxCreate_v3)                       \
    X(cuCtxCreate_v4)                       \
    X(cuCtxDestroy_v2)                      \
    X(cuCtxSetCurrent)                      \
    X(cuCtxGetCurrent)                      \
    X(cuCtxGetDevice)                       \
    X(cuMemAlloc_v2)                        \
    X(cuMemAllocPitch_v2)                   \
    X(cuMemAllocManaged)                    \
    X(cuMemFree_v2)                         \
    X(cuMemCreate)                          \
    X(cuMemRelease)                         \
    X(cuMemMap)                             \
    X(cuMemUnmap)                           \
    X(cuMemRetainAllocationHandle)          \
    X(cuCtxCreate)                          \
    X(cuCtxDestroy)                         \
    X(cuDeviceTotalMem)                     \
    X(cuMemGetInfo)                         \
    X(cuMemAlloc)                           \
    X(cuMemAllocPitch)                      \
    X(cuMemFree)                            \
    X(cuArrayCreate)                        \
    X(cuArray3DCreate)                      \
    X(cuMulticastCreate)                    \
    X(cuMulticastBindMem)                   \
    X(cuMulticastBindAddr)                  \
    X(cuMulticastBindMem_v2)                \
    X(cuMulticastBindAddr_v2)               \
    X(cuMulticastUnbind)                    \
    X(cuGreenCtxCreate)                     \
    X(cuGreenCtxDestroy)                    \
    X(cuGLCtxCreate)                        \
    X(cuGLCtxCreate_v2)                     \
    X(cuVDPAUCtxCreate)                     \
    X(cuVDPAUCtxCreate_v2)                  \
    X(cuLogicalEndpointCreate)              \
    X(cuLogicalEndpointImport)              \
    X(cuMemAllocAsync)                      \
    X(cuMemAllocAsync_ptsz)                 \
    X(cuMemAllocFromPoolAsync)              \
    X(cuMemAllocFromPoolAsync_ptsz)         \
    X(cuMemFreeAsync)                       \
    X(cuMemFreeAsync_ptsz)                  \
    X(cuMemPoolCreate)                      \
    X(cuDeviceGetDefaultMemPool)            \
    X(cuMemPoolDestroy)                     \
    X(cuMemPoolTrimTo)                      \
    X(cuMemPoolGetAttribute)                \
    X(cuDeviceGetMemPool)                   \
    X(cuDeviceGetGraphMemAttribute)         \
    X(cuDeviceGraphMemTrim)                 \
    X(cuArrayCreate_v2)                     \
    X(cuArray3DCreate_v2)                   \
    X(cuArrayDestroy)                       \
    X(cuMipmappedArrayCreate)               \
    X(cuMipmappedArrayDestroy)              \
    X(cuLaunch)                             \
    X(cuLaunchGrid)                         \
    X(cuLaunchGridAsync)                    \
    X(cuLaunchKernel)                       \
    X(cuLaunchKernel_ptsz)                  \
    X(cuLaunchKernelEx)                     \
    X(cuLaunchKernelEx_ptsz)                \
    X(cuLaunchCooperativeKernel)            \
    X(cuLaunchCooperativeKernel_ptsz)       \
    X(cuLaunchCooperativeKernelMultiDevice) \
    X(cuGraphLaunch)                        \
    X(cuGraphLaunch_ptsz)                   \
    X(cuGraphAddMemAllocNode)               \
    X(cuStreamIsCapturing)                  \
    X(cuStreamSynchronize)                  \
    X(cuStreamSynchronize_ptsz)             \
    X(cuCtxSynchronize)                     \
    X(cuCtxSynchronize_v2)                  \
    X(cuMemcpyDtoH_v2)                      \
    X(cuMemcpyDtoH_v2_ptds)                 \
    X(cuThreadExchangeStreamCaptureMode)    \
    X(cuEventCreate)                        \
    X(cuEventRecord)                        \
    X(cuEventQuery)                         \
    X(cuGraphAddNode)                       \
    X(cuGraphAddNode_v2)                    \
    X(cuGraphAddNode_v3)                    \
    X(cuGraphUpload)                        \
    X(cuGraphUpload_ptsz)                   \
    X(cuEventSynchronize)                   \
    X(cuEventDestroy_v2)

struct RealDriver {
#define BERTH_REAL_MEMBER(name) decltype(&::name) name = nullptr;
    BERTH_REAL_FUNCTIONS(BERTH_REAL_MEMBER)
#undef BERTH_REAL_MEMBER
    void* library = nullptr;  // null when there is no driver: the message is on stderr then
};

extern RealDriver real_driver;
extern std::atomic<bool> real_driver_is_loaded;
void load_real_driver_once();

// Loads it on the first call; safe from several threads. Afterwards it is one load. Every hook
// begins with it, so that it notes the call.
inline const RealDriver& load_real_driver() {
    note_call();
    if (!real_driver_is_loaded.load(std::memory_order_acquire)) [[unlikely]]
        load_real_driver_once();
    return real_driver;
}

// A function by its exported name; null when the driver lacks it.
void* real_function(const char* name);

}  // namespace berth::vgpu::interposer
