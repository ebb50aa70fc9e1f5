// SPDX-License-Identifier: Apache-2.0
//
// Which function does a runtime get for (name, version, flags)?
//
// Each row: the name it asks for, the CUDA version from which that name means this function, and
// the exported function. Where a name has several rows the newest one that is not too new counts.
// The versions are those of the public release notes and of the API's documentation.
#include <array>
#include <string_view>

#include "vgpu/software_driver/driver.h"

using namespace berth::vgpu::software_driver;

// Functions with a twin for the per-thread default stream: name, version, function, its suffix.
#define BERTH_TWINS(X)                                                   \
    X(cuMemcpy, 4000, cuMemcpy, _ptds)                                   \
    X(cuMemcpyAsync, 4000, cuMemcpyAsync, _ptsz)                         \
    X(cuMemcpyPeer, 4000, cuMemcpyPeer, _ptds)                           \
    X(cuMemcpyPeerAsync, 4000, cuMemcpyPeerAsync, _ptsz)                 \
    X(cuMemcpyHtoD, 3020, cuMemcpyHtoD_v2, _ptds)                        \
    X(cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2, _ptsz)              \
    X(cuMemcpyDtoH, 3020, cuMemcpyDtoH_v2, _ptds)                        \
    X(cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2, _ptsz)              \
    X(cuMemcpyDtoD, 3020, cuMemcpyDtoD_v2, _ptds)                        \
    X(cuMemcpyDtoDAsync, 3020, cuMemcpyDtoDAsync_v2, _ptsz)              \
    X(cuMemcpy2D, 3020, cuMemcpy2D_v2, _ptds)                            \
    X(cuMemcpy2DUnaligned, 3020, cuMemcpy2DUnaligned_v2, _ptds)          \
    X(cuMemcpy2DAsync, 3020, cuMemcpy2DAsync_v2, _ptsz)                  \
    X(cuMemcpy3D, 3020, cuMemcpy3D_v2, _ptds)                            \
    X(cuMemcpy3DAsync, 3020, cuMemcpy3DAsync_v2, _ptsz)                  \
    X(cuMemsetD8, 3020, cuMemsetD8_v2, _ptds)                            \
    X(cuMemsetD8Async, 3020, cuMemsetD8Async, _ptsz)                     \
    X(cuMemsetD16, 3020, cuMemsetD16_v2, _ptds)                          \
    X(cuMemsetD16Async, 3020, cuMemsetD16Async, _ptsz)                   \
    X(cuMemsetD32, 3020, cuMemsetD32_v2, _ptds)                          \
    X(cuMemsetD32Async, 3020, cuMemsetD32Async, _ptsz)                   \
    X(cuMemsetD2D8, 3020, cuMemsetD2D8_v2, _ptds)                        \
    X(cuMemsetD2D8Async, 3020, cuMemsetD2D8Async, _ptsz)                 \
    X(cuMemAllocAsync, 11020, cuMemAllocAsync, _ptsz)                    \
    X(cuMemAllocFromPoolAsync, 11020, cuMemAllocFromPoolAsync, _ptsz)    \
    X(cuMemFreeAsync, 11020, cuMemFreeAsync, _ptsz)                      \
    X(cuStreamQuery, 2000, cuStreamQuery, _ptsz)                         \
    X(cuStreamSynchronize, 2000, cuStreamSynchronize, _ptsz)             \
    X(cuStreamWaitEvent, 3020, cuStreamWaitEvent, _ptsz)                 \
    X(cuStreamWriteValue32, 11070, cuStreamWriteValue32_v2, _ptsz)       \
    X(cuStreamGetPriority, 5050, cuStreamGetPriority, _ptsz)             \
    X(cuStreamGetFlags, 5050, cuStreamGetFlags, _ptsz)                   \
    X(cuStreamGetId, 12000, cuStreamGetId, _ptsz)                        \
    X(cuStreamGetCtx, 9020, cuStreamGetCtx, _ptsz)                       \
    X(cuStreamAddCallback, 5000, cuStreamAddCallback, _ptsz)             \
    X(cuStreamBeginCapture, 10010, cuStreamBeginCapture_v2, _ptsz)       \
    X(cuStreamEndCapture, 10000, cuStreamEndCapture, _ptsz)              \
    X(cuStreamIsCapturing, 10000, cuStreamIsCapturing, _ptsz)            \
    X(cuStreamGetCaptureInfo, 11030, cuStreamGetCaptureInfo_v2, _ptsz)   \
    X(cuLaunchHostFunc, 10000, cuLaunchHostFunc, _ptsz)                  \
    X(cuEventRecord, 2000, cuEventRecord, _ptsz)                         \
    X(cuEventRecordWithFlags, 11010, cuEventRecordWithFlags, _ptsz)      \
    X(cuLaunchKernel, 4000, cuLaunchKernel, _ptsz)                       \
    X(cuLaunchKernelEx, 11060, cuLaunchKernelEx, _ptsz)                  \
    X(cuLaunchCooperativeKernel, 9000, cuLaunchCooperativeKernel, _ptsz) \
    X(cuGraphUpload, 11010, cuGraphUpload, _ptsz)                        \
    X(cuGraphLaunch, 10000, cuGraphLaunch, _ptsz)

#define BERTH_ONLY(X)                                                                        \
    X(cuInit, 2000, cuInit)                                                                  \
    X(cuDriverGetVersion, 2020, cuDriverGetVersion)                                          \
    X(cuGetErrorName, 6000, cuGetErrorName)                                                  \
    X(cuGetErrorString, 6000, cuGetErrorString)                                              \
    X(cuGetProcAddress, 11030, cuGetProcAddress)                                             \
    X(cuGetProcAddress, 12000, cuGetProcAddress_v2)                                          \
    X(cuGetExportTable, 3000, cuGetExportTable)                                              \
    X(cuDeviceGet, 2000, cuDeviceGet)                                                        \
    X(cuDeviceGetCount, 2000, cuDeviceGetCount)                                              \
    X(cuDeviceGetName, 2000, cuDeviceGetName)                                                \
    X(cuDeviceGetUuid, 9020, cuDeviceGetUuid)                                                \
    X(cuDeviceGetUuid, 11040, cuDeviceGetUuid_v2)                                            \
    X(cuDeviceTotalMem, 3020, cuDeviceTotalMem_v2)                                           \
    X(cuDeviceGetAttribute, 2000, cuDeviceGetAttribute)                                      \
    X(cuDeviceComputeCapability, 2000, cuDeviceComputeCapability)                            \
    X(cuDeviceGetByPCIBusId, 4010, cuDeviceGetByPCIBusId)                                    \
    X(cuDeviceGetPCIBusId, 4010, cuDeviceGetPCIBusId)                                        \
    X(cuDeviceCanAccessPeer, 4000, cuDeviceCanAccessPeer)                                    \
    X(cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain)                              \
    X(cuDevicePrimaryCtxRelease, 11000, cuDevicePrimaryCtxRelease_v2)                        \
    X(cuDevicePrimaryCtxReset, 11000, cuDevicePrimaryCtxReset_v2)                            \
    X(cuDevicePrimaryCtxSetFlags, 11000, cuDevicePrimaryCtxSetFlags_v2)                      \
    X(cuDevicePrimaryCtxGetState, 7000, cuDevicePrimaryCtxGetState)                          \
    X(cuCtxCreate, 2000, cuCtxCreate)                                                        \
    X(cuCtxDestroy, 2000, cuCtxDestroy)                                                      \
    X(cuDeviceTotalMem, 2000, cuDeviceTotalMem)                                              \
    X(cuMemGetInfo, 2000, cuMemGetInfo)                                                      \
    X(cuMemAlloc, 2000, cuMemAlloc)                                                          \
    X(cuMemAllocPitch, 2000, cuMemAllocPitch)                                                \
    X(cuMemFree, 2000, cuMemFree)                                                            \
    X(cuArrayCreate, 2000, cuArrayCreate)                                                    \
    X(cuArray3DCreate, 2000, cuArray3DCreate)                                                \
    X(cuCtxCreate, 3020, cuCtxCreate_v2)                                                     \
    X(cuCtxCreate, 11040, cuCtxCreate_v3)                                                    \
    X(cuCtxCreate, 12050, cuCtxCreate_v4)                                                    \
    X(cuCtxDestroy, 4000, cuCtxDestroy_v2)                                                   \
    X(cuCtxPushCurrent, 4000, cuCtxPushCurrent_v2)                                           \
    X(cuCtxPopCurrent, 4000, cuCtxPopCurrent_v2)                                             \
    X(cuCtxSetCurrent, 4000, cuCtxSetCurrent)                                                \
    X(cuCtxGetCurrent, 4000, cuCtxGetCurrent)                                                \
    X(cuCtxGetDevice, 2000, cuCtxGetDevice)                                                  \
    X(cuCtxGetDevice, 13000, cuCtxGetDevice_v2)                                              \
    X(cuCtxGetId, 12000, cuCtxGetId)                                                         \
    X(cuCtxGetFlags, 7000, cuCtxGetFlags)                                                    \
    X(cuCtxGetApiVersion, 3020, cuCtxGetApiVersion)                                          \
    X(cuCtxSynchronize, 2000, cuCtxSynchronize)                                              \
    X(cuCtxSynchronize, 13000, cuCtxSynchronize_v2)                                          \
    X(cuCtxSetLimit, 3010, cuCtxSetLimit)                                                    \
    X(cuCtxGetLimit, 3010, cuCtxGetLimit)                                                    \
    X(cuCtxGetStreamPriorityRange, 5050, cuCtxGetStreamPriorityRange)                        \
    X(cuCtxEnablePeerAccess, 4000, cuCtxEnablePeerAccess)                                    \
    X(cuCtxDisablePeerAccess, 4000, cuCtxDisablePeerAccess)                                  \
    X(cuMemGetInfo, 3020, cuMemGetInfo_v2)                                                   \
    X(cuMemAlloc, 3020, cuMemAlloc_v2)                                                       \
    X(cuMemAllocPitch, 3020, cuMemAllocPitch_v2)                                             \
    X(cuMemAllocManaged, 6000, cuMemAllocManaged)                                            \
    X(cuMemFree, 3020, cuMemFree_v2)                                                         \
    X(cuMemGetAddressRange, 3020, cuMemGetAddressRange_v2)                                   \
    X(cuMemAllocHost, 3020, cuMemAllocHost_v2)                                               \
    X(cuMemHostAlloc, 2020, cuMemHostAlloc)                                                  \
    X(cuMemFreeHost, 2000, cuMemFreeHost)                                                    \
    X(cuMemHostGetDevicePointer, 3020, cuMemHostGetDevicePointer_v2)                         \
    X(cuMemHostRegister, 6050, cuMemHostRegister_v2)                                         \
    X(cuMemHostUnregister, 4000, cuMemHostUnregister)                                        \
    X(cuPointerGetAttribute, 4000, cuPointerGetAttribute)                                    \
    X(cuIpcGetMemHandle, 4010, cuIpcGetMemHandle)                                            \
    X(cuIpcOpenMemHandle, 11000, cuIpcOpenMemHandle_v2)                                      \
    X(cuIpcCloseMemHandle, 4010, cuIpcCloseMemHandle)                                        \
    X(cuArrayCreate, 3020, cuArrayCreate_v2)                                                 \
    X(cuArray3DCreate, 3020, cuArray3DCreate_v2)                                             \
    X(cuArrayGetDescriptor, 3020, cuArrayGetDescriptor_v2)                                   \
    X(cuArray3DGetDescriptor, 3020, cuArray3DGetDescriptor_v2)                               \
    X(cuArrayDestroy, 2000, cuArrayDestroy)                                                  \
    X(cuMipmappedArrayCreate, 5000, cuMipmappedArrayCreate)                                  \
    X(cuMipmappedArrayGetLevel, 5000, cuMipmappedArrayGetLevel)                              \
    X(cuMipmappedArrayDestroy, 5000, cuMipmappedArrayDestroy)                                \
    X(cuMemGetAllocationGranularity, 10020, cuMemGetAllocationGranularity)                   \
    X(cuMemAddressReserve, 10020, cuMemAddressReserve)                                       \
    X(cuMemAddressFree, 10020, cuMemAddressFree)                                             \
    X(cuMemCreate, 10020, cuMemCreate)                                                       \
    X(cuMemRelease, 10020, cuMemRelease)                                                     \
    X(cuMemMap, 10020, cuMemMap)                                                             \
    X(cuMemUnmap, 10020, cuMemUnmap)                                                         \
    X(cuMemSetAccess, 10020, cuMemSetAccess)                                                 \
    X(cuMemGetAccess, 10020, cuMemGetAccess)                                                 \
    X(cuMemRetainAllocationHandle, 11000, cuMemRetainAllocationHandle)                       \
    X(cuMemGetAllocationPropertiesFromHandle, 10020, cuMemGetAllocationPropertiesFromHandle) \
    X(cuMemExportToShareableHandle, 10020, cuMemExportToShareableHandle)                     \
    X(cuMemImportFromShareableHandle, 10020, cuMemImportFromShareableHandle)                 \
    X(cuMulticastCreate, 12010, cuMulticastCreate)                                           \
    X(cuMulticastAddDevice, 12010, cuMulticastAddDevice)                                     \
    X(cuMulticastBindMem, 12010, cuMulticastBindMem)                                         \
    X(cuMulticastBindAddr, 12010, cuMulticastBindAddr)                                       \
    X(cuMulticastBindMem, 13010, cuMulticastBindMem_v2)                                      \
    X(cuMulticastBindAddr, 13010, cuMulticastBindAddr_v2)                                    \
    X(cuMulticastUnbind, 12010, cuMulticastUnbind)                                           \
    X(cuMulticastGetGranularity, 12010, cuMulticastGetGranularity)                           \
    X(cuDeviceGetDevResource, 12040, cuDeviceGetDevResource)                                 \
    X(cuDevResourceGenerateDesc, 12040, cuDevResourceGenerateDesc)                           \
    X(cuGreenCtxCreate, 12040, cuGreenCtxCreate)                                             \
    X(cuGreenCtxDestroy, 12040, cuGreenCtxDestroy)                                           \
    X(cuCtxFromGreenCtx, 12040, cuCtxFromGreenCtx)                                           \
    X(cuMemPoolCreate, 11020, cuMemPoolCreate)                                               \
    X(cuMemPoolDestroy, 11020, cuMemPoolDestroy)                                             \
    X(cuMemPoolTrimTo, 11020, cuMemPoolTrimTo)                                               \
    X(cuMemPoolSetAttribute, 11020, cuMemPoolSetAttribute)                                   \
    X(cuMemPoolGetAttribute, 11020, cuMemPoolGetAttribute)                                   \
    X(cuMemPoolSetAccess, 11020, cuMemPoolSetAccess)                                         \
    X(cuMemPoolGetAccess, 11020, cuMemPoolGetAccess)                                         \
    X(cuDeviceGetDefaultMemPool, 11020, cuDeviceGetDefaultMemPool)                           \
    X(cuDeviceGetMemPool, 11020, cuDeviceGetMemPool)                                         \
    X(cuDeviceSetMemPool, 11020, cuDeviceSetMemPool)                                         \
    X(cuDeviceGetGraphMemAttribute, 11040, cuDeviceGetGraphMemAttribute)                     \
    X(cuDeviceSetGraphMemAttribute, 11040, cuDeviceSetGraphMemAttribute)                     \
    X(cuDeviceGraphMemTrim, 11040, cuDeviceGraphMemTrim)                                     \
    X(cuStreamCreate, 2000, cuStreamCreate)                                                  \
    X(cuStreamCreateWithPriority, 5050, cuStreamCreateWithPriority)                          \
    X(cuStreamDestroy, 4000, cuStreamDestroy_v2)                                             \
    X(cuThreadExchangeStreamCaptureMode, 10010, cuThreadExchangeStreamCaptureMode)           \
    X(cuEventCreate, 2000, cuEventCreate)                                                    \
    X(cuEventDestroy, 4000, cuEventDestroy_v2)                                               \
    X(cuEventQuery, 2000, cuEventQuery)                                                      \
    X(cuEventSynchronize, 2000, cuEventSynchronize)                                          \
    X(cuEventElapsedTime, 2000, cuEventElapsedTime)                                          \
    X(cuEventElapsedTime, 12080, cuEventElapsedTime_v2)                                      \
    X(cuModuleLoad, 2000, cuModuleLoad)                                                      \
    X(cuModuleLoadData, 2000, cuModuleLoadData)                                              \
    X(cuModuleLoadDataEx, 2010, cuModuleLoadDataEx)                                          \
    X(cuModuleUnload, 2000, cuModuleUnload)                                                  \
    X(cuModuleGetFunction, 2000, cuModuleGetFunction)                                        \
    X(cuModuleGetGlobal, 3020, cuModuleGetGlobal_v2)                                         \
    X(cuModuleGetLoadingMode, 11070, cuModuleGetLoadingMode)                                 \
    X(cuLibraryLoadData, 12000, cuLibraryLoadData)                                           \
    X(cuLibraryUnload, 12000, cuLibraryUnload)                                               \
    X(cuLibraryGetKernel, 12000, cuLibraryGetKernel)                                         \
    X(cuLibraryGetModule, 12000, cuLibraryGetModule)                                         \
    X(cuKernelGetFunction, 12000, cuKernelGetFunction)                                       \
    X(cuFuncGetAttribute, 2020, cuFuncGetAttribute)                                          \
    X(cuFuncSetAttribute, 9000, cuFuncSetAttribute)                                          \
    X(cuFuncGetModule, 11000, cuFuncGetModule)                                               \
    X(cuFuncGetName, 12030, cuFuncGetName)                                                   \
    X(cuFuncSetBlockShape, 2000, cuFuncSetBlockShape)                                        \
    X(cuFuncSetSharedSize, 2000, cuFuncSetSharedSize)                                        \
    X(cuParamSetSize, 2000, cuParamSetSize)                                                  \
    X(cuParamSeti, 2000, cuParamSeti)                                                        \
    X(cuParamSetf, 2000, cuParamSetf)                                                        \
    X(cuParamSetv, 2000, cuParamSetv)                                                        \
    X(cuLaunch, 2000, cuLaunch)                                                              \
    X(cuLaunchGrid, 2000, cuLaunchGrid)                                                      \
    X(cuLaunchGridAsync, 2000, cuLaunchGridAsync)                                            \
    X(cuLaunchCooperativeKernelMultiDevice, 9000, cuLaunchCooperativeKernelMultiDevice)      \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050,                                     \
      cuOccupancyMaxActiveBlocksPerMultiprocessor)                                           \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000,                            \
      cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)                                  \
    X(cuProfilerStart, 4000, cuProfilerStart)                                                \
    X(cuProfilerStop, 4000, cuProfilerStop)                                                  \
    X(cuGraphCreate, 10000, cuGraphCreate)                                                   \
    X(cuGraphDestroy, 10000, cuGraphDestroy)                                                 \
    X(cuGraphClone, 10000, cuGraphClone)                                                     \
    X(cuGraphAddKernelNode, 12000, cuGraphAddKernelNode_v2)                                  \
    X(cuGraphAddMemcpyNode, 10000, cuGraphAddMemcpyNode)                                     \
    X(cuGraphAddMemsetNode, 10000, cuGraphAddMemsetNode)                                     \
    X(cuGraphAddHostNode, 10000, cuGraphAddHostNode)                                         \
    X(cuGraphAddEmptyNode, 10000, cuGraphAddEmptyNode)                                       \
    X(cuGraphAddMemAllocNode, 11040, cuGraphAddMemAllocNode)                                 \
    X(cuGraphAddMemFreeNode, 11040, cuGraphAddMemFreeNode)                                   \
    X(cuGraphGetNodes, 10000, cuGraphGetNodes)                                               \
    X(cuGraphNodeGetType, 10000, cuGraphNodeGetType)                                         \
    X(cuGraphInstantiate, 11000, cuGraphInstantiate_v2)                                      \
    X(cuGraphInstantiate, 12000, cuGraphInstantiateWithFlags)                                \
    X(cuGraphInstantiateWithFlags, 11040, cuGraphInstantiateWithFlags)                       \
    X(cuGraphInstantiateWithParams, 12000, cuGraphInstantiateWithParams)                     \
    X(cuGraphExecDestroy, 10000, cuGraphExecDestroy)                                         \
    X(cuCheckpointProcessGetState, 12080, cuCheckpointProcessGetState)                       \
    X(cuCheckpointProcessGetRestoreThreadId, 12080, cuCheckpointProcessGetRestoreThreadId)   \
    X(cuCheckpointProcessLock, 12080, cuCheckpointProcessLock)                               \
    X(cuCheckpointProcessCheckpoint, 12080, cuCheckpointProcessCheckpoint)                   \
    X(cuCheckpointProcessRestore, 12080, cuCheckpointProcessRestore)                         \
    X(cuCheckpointProcessUnlock, 12080, cuCheckpointProcessUnlock)

#define BERTH_DECLARE(name, version, function, suffix) \
    extern "C" decltype(function) function##suffix;
BERTH_TWINS(BERTH_DECLARE)
#undef BERTH_DECLARE

namespace {

using AnyFunction = void (*)();

struct Row {
    std::string_view name;
    int version;
    AnyFunction function;
    AnyFunction per_thread;  // null: no stream, so no twin
};

constexpr int kTwinsSince = 7000;

template <class F>
AnyFunction any(F* function) {
    return reinterpret_cast<AnyFunction>(function);
}

#define BERTH_ROW(name, version, function) Row{#name, version, any(function), nullptr},
#define BERTH_TWIN_ROW(name, version, function, suffix) \
    Row{#name, version, any(function), any(function##suffix)},
const std::array kRows = {BERTH_TWINS(BERTH_TWIN_ROW) BERTH_ONLY(BERTH_ROW)};
#undef BERTH_ROW
#undef BERTH_TWIN_ROW

struct Answer {
    AnyFunction function = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

// What the driver does not have yet is not there; what the caller is too old for is insufficient.
Answer look_up(std::string_view name, int version, cuuint64_t flags) {
    Answer answer;
    int newest = 0;
    for (const Row& row : kRows) {
        if (row.name != name || row.version > driver_version()) continue;
        const bool is_twin =
            flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM && row.per_thread != nullptr;
        if (row.version > version || (is_twin && version < kTwinsSince)) {
            if (answer.function == nullptr)
                answer.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
            continue;
        }
        if (row.version < newest) continue;
        newest = row.version;
        answer = {is_twin ? row.per_thread : row.function, CU_GET_PROC_ADDRESS_SUCCESS};
    }
    return answer;
}

}  // namespace

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
    if (symbol == nullptr || function == nullptr ||
        flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    try {
        const Answer answer = look_up(symbol, version, flags);
        *function = reinterpret_cast<void*>(answer.function);
        if (status != nullptr) *status = answer.status;
        return answer.function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
    } catch (...) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
}
