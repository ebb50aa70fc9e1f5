// SPDX-License-Identifier: Apache-2.0
//
// Multicast objects: memory of several GPUs that is written and read at once. Since CUDA 12.1.
#pragma once

#include <cstddef>

#include "vgpu/abi/cuda_memory.h"

enum CUmulticastGranularity_flags : unsigned int {
    CU_MULTICAST_GRANULARITY_MINIMUM = 0,
    CU_MULTICAST_GRANULARITY_RECOMMENDED = 1,
};

#pragma GCC visibility push(default)
extern "C" {
CUresult cuMulticastCreate(CUmemGenericAllocationHandle* handle, const CUmulticastObjectProp* prop);
CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice device);
CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, std::size_t offset,
                            CUmemGenericAllocationHandle memory, std::size_t memory_offset,
                            std::size_t bytes, unsigned long long flags);
CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, std::size_t offset,
                             CUdeviceptr memory, std::size_t bytes, unsigned long long flags);
// With the device that the binding is for. Since CUDA 13.1.
CUresult cuMulticastBindMem_v2(CUmemGenericAllocationHandle handle, CUdevice device,
                               std::size_t offset, CUmemGenericAllocationHandle memory,
                               std::size_t memory_offset, std::size_t bytes,
                               unsigned long long flags);
CUresult cuMulticastBindAddr_v2(CUmemGenericAllocationHandle handle, CUdevice device,
                                std::size_t offset, CUdeviceptr memory, std::size_t bytes,
                                unsigned long long flags);
CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice device, std::size_t offset,
                           std::size_t bytes);
CUresult cuMulticastGetGranularity(std::size_t* bytes, const CUmulticastObjectProp* prop,
                                   CUmulticastGranularity_flags option);
}
#pragma GCC visibility pop
