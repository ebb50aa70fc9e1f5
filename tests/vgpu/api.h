// SPDX-License-Identifier: Apache-2.0
//
// The driver and its management library as a program finds them: opened by name when it runs, each
// function asked for by name, version and flags. The same program runs on the software driver and
// on a real one; what only the software driver can answer asks is_software() first.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/abi/cuda.h"
#include "vgpu/abi/nvml.h"

namespace berth::test_vgpu {

// Name that a runtime asks for, function that it means at CUDA 12.2.
#define BERTH_TEST_CUDA(X)                                            \
    X(cuInit, cuInit)                                                 \
    X(cuDriverGetVersion, cuDriverGetVersion)                         \
    X(cuGetErrorName, cuGetErrorName)                                 \
    X(cuDeviceGet, cuDeviceGet)                                       \
    X(cuDeviceGetCount, cuDeviceGetCount)                             \
    X(cuDeviceGetName, cuDeviceGetName)                               \
    X(cuDeviceGetUuid, cuDeviceGetUuid)                               \
    X(cuDeviceTotalMem, cuDeviceTotalMem_v2)                          \
    X(cuDeviceGetAttribute, cuDeviceGetAttribute)                     \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)             \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2)        \
    X(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2)            \
    X(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState)         \
    X(cuCtxSetCurrent, cuCtxSetCurrent)                               \
    X(cuCtxGetCurrent, cuCtxGetCurrent)                               \
    X(cuCtxPopCurrent, cuCtxPopCurrent_v2)                            \
    X(cuCtxDestroy, cuCtxDestroy_v2)                                  \
    X(cuCtxGetDevice, cuCtxGetDevice)                                 \
    X(cuCtxSynchronize, cuCtxSynchronize)                             \
    X(cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange)       \
    X(cuMemGetInfo, cuMemGetInfo_v2)                                  \
    X(cuMemAlloc, cuMemAlloc_v2)                                      \
    X(cuMemAllocPitch, cuMemAllocPitch_v2)                            \
    X(cuMemAllocManaged, cuMemAllocManaged)                           \
    X(cuMemFree, cuMemFree_v2)                                        \
    X(cuMemGetAddressRange, cuMemGetAddressRange_v2)                  \
    X(cuMemAllocHost, cuMemAllocHost_v2)                              \
    X(cuMemFreeHost, cuMemFreeHost)                                   \
    X(cuPointerGetAttribute, cuPointerGetAttribute)                   \
    X(cuIpcGetMemHandle, cuIpcGetMemHandle)                           \
    X(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2)                      \
    X(cuIpcCloseMemHandle, cuIpcCloseMemHandle)                       \
    X(cuArrayCreate, cuArrayCreate_v2)                                \
    X(cuArray3DCreate, cuArray3DCreate_v2)                            \
    X(cuArrayDestroy, cuArrayDestroy)                                 \
    X(cuMipmappedArrayCreate, cuMipmappedArrayCreate)                 \
    X(cuMipmappedArrayGetLevel, cuMipmappedArrayGetLevel)             \
    X(cuMipmappedArrayDestroy, cuMipmappedArrayDestroy)               \
    X(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity)   \
    X(cuMemAddressReserve, cuMemAddressReserve)                       \
    X(cuMemAddressFree, cuMemAddressFree)                             \
    X(cuMemCreate, cuMemCreate)                                       \
    X(cuMemRelease, cuMemRelease)                                     \
    X(cuMemMap, cuMemMap)                                             \
    X(cuMemUnmap, cuMemUnmap)                                         \
    X(cuMemSetAccess, cuMemSetAccess)                                 \
    X(cuMemRetainAllocationHandle, cuMemRetainAllocationHandle)       \
    X(cuMemExportToShareableHandle, cuMemExportToShareableHandle)     \
    X(cuMemImportFromShareableHandle, cuMemImportFromShareableHandle) \
    X(cuMemAllocAsync, cuMemAllocAsync)                               \
    X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync)               \
    X(cuMemFreeAsync, cuMemFreeAsync)                                 \
    X(cuMemPoolCreate, cuMemPoolCreate)                               \
    X(cuMemPoolDestroy, cuMemPoolDestroy)                             \
    X(cuMemPoolTrimTo, cuMemPoolTrimTo)                               \
    X(cuMemPoolSetAttribute, cuMemPoolSetAttribute)                   \
    X(cuMemPoolGetAttribute, cuMemPoolGetAttribute)                   \
    X(cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool)           \
    X(cuDeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute)     \
    X(cuDeviceGraphMemTrim, cuDeviceGraphMemTrim)                     \
    X(cuMemcpyHtoD, cuMemcpyHtoD_v2)                                  \
    X(cuMemcpyDtoH, cuMemcpyDtoH_v2)                                  \
    X(cuMemcpyDtoD, cuMemcpyDtoD_v2)                                  \
    X(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2)                        \
    X(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2)                        \
    X(cuMemcpy2D, cuMemcpy2D_v2)                                      \
    X(cuMemsetD8, cuMemsetD8_v2)                                      \
    X(cuMemsetD32, cuMemsetD32_v2)                                    \
    X(cuMemsetD32Async, cuMemsetD32Async)                             \
    X(cuStreamCreate, cuStreamCreate)                                 \
    X(cuStreamDestroy, cuStreamDestroy_v2)                            \
    X(cuStreamQuery, cuStreamQuery)                                   \
    X(cuStreamSynchronize, cuStreamSynchronize)                       \
    X(cuStreamWaitEvent, cuStreamWaitEvent)                           \
    X(cuStreamWriteValue32, cuStreamWriteValue32_v2)                  \
    X(cuStreamBeginCapture, cuStreamBeginCapture_v2)                  \
    X(cuStreamEndCapture, cuStreamEndCapture)                         \
    X(cuStreamIsCapturing, cuStreamIsCapturing)                       \
    X(cuLaunchHostFunc, cuLaunchHostFunc)                             \
    X(cuEventCreate, cuEventCreate)                                   \
    X(cuEventDestroy, cuEventDestroy_v2)                              \
    X(cuEventRecord, cuEventRecord)                                   \
    X(cuEventQuery, cuEventQuery)                                     \
    X(cuEventSynchronize, cuEventSynchronize)                         \
    X(cuEventElapsedTime, cuEventElapsedTime)                         \
    X(cuModuleLoadData, cuModuleLoadData)                             \
    X(cuModuleUnload, cuModuleUnload)                                 \
    X(cuModuleGetFunction, cuModuleGetFunction)                       \
    X(cuFuncSetBlockShape, cuFuncSetBlockShape)                       \
    X(cuParamSetSize, cuParamSetSize)                                 \
    X(cuParamSeti, cuParamSeti)                                       \
    X(cuParamSetv, cuParamSetv)                                       \
    X(cuLaunch, cuLaunch)                                             \
    X(cuLaunchGrid, cuLaunchGrid)                                     \
    X(cuLaunchKernel, cuLaunchKernel)                                 \
    X(cuGraphDestroy, cuGraphDestroy)                                 \
    X(cuGraphGetNodes, cuGraphGetNodes)                               \
    X(cuGraphNodeGetType, cuGraphNodeGetType)                         \
    X(cuGraphInstantiate, cuGraphInstantiateWithFlags)                \
    X(cuGraphExecDestroy, cuGraphExecDestroy)                         \
    X(cuGraphLaunch, cuGraphLaunch)

struct Cuda {
#define BERTH_TEST_FIELD(name, function) decltype(&::function) name = nullptr;
    BERTH_TEST_CUDA(BERTH_TEST_FIELD)
#undef BERTH_TEST_FIELD
    // Asked for at the version given; null when the driver is older.
    void* find(const char* name, int version = 13000, cuuint64_t flags = 0,
               CUdriverProcAddressQueryResult* status = nullptr, CUresult* result = nullptr) const;
    template <class F>
    F* find_as(const char* name, int version = 13000, cuuint64_t flags = 0) const {
        return reinterpret_cast<F*>(find(name, version, flags));
    }
    decltype(&cuGetProcAddress_v2) look_up = nullptr;
};

// Opened once; on the software driver with a state file of this process's own, unless
// BERTH_SOFTWARE_GPU says which.
const Cuda& cuda();

// A symbol of the management library.
void* nvml_symbol(const char* name);
template <class F>
F* nvml(const char* name) {
    return reinterpret_cast<F*>(nvml_symbol(name));
}
// The first GPU, after nvmlInit.
nvmlDevice_t nvml_device();

bool is_software();

// Of the description that tests without one of their own run on.
inline constexpr std::uint64_t kMiB = 1ULL << 20U;
inline constexpr std::uint64_t kMemoryBytes = 2048 * kMiB;
inline constexpr std::uint64_t kReservedBytes = 64 * kMiB;
inline constexpr std::uint64_t kContextBytes = 32 * kMiB;

// The primary context of the first GPU, current on this thread for the scope, and reset after it.
class PrimaryContext {
  public:
    PrimaryContext();
    ~PrimaryContext();
    PrimaryContext(const PrimaryContext&) = delete;
    PrimaryContext& operator=(const PrimaryContext&) = delete;
};

// Used on the first GPU, by everybody, as cuMemGetInfo says.
std::uint64_t used_bytes();

// The test kernels (src/vgpu/software_driver/work/module.h) as PTX, of which a real driver makes
// code.
const char* kernels();

}  // namespace berth::test_vgpu
