// SPDX-License-Identifier: Apache-2.0
//
// First versions of calls, from before CUDA 3.2: their addresses and sizes have 32 bits. Drivers
// still export them.
#pragma once

#include "vgpu/abi/cuda_memory.h"

using CUdeviceptr_v1 = unsigned int;

struct CUDA_ARRAY_DESCRIPTOR_v1 {
    unsigned int Width;
    unsigned int Height;
    CUarray_format Format;
    unsigned int NumChannels;
};

struct CUDA_ARRAY3D_DESCRIPTOR_v1 {
    unsigned int Width;
    unsigned int Height;
    unsigned int Depth;
    CUarray_format Format;
    unsigned int NumChannels;
    unsigned int Flags;
};

#pragma GCC visibility push(default)
extern "C" {
CUresult cuDeviceTotalMem(unsigned int* bytes, CUdevice device);
CUresult cuMemGetInfo(unsigned int* free, unsigned int* total);
CUresult cuMemAlloc(CUdeviceptr_v1* pointer, unsigned int bytes);
CUresult cuMemAllocPitch(CUdeviceptr_v1* pointer, unsigned int* pitch, unsigned int width,
                         unsigned int height, unsigned int element_bytes);
CUresult cuMemFree(CUdeviceptr_v1 pointer);
CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR_v1* descriptor);
CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR_v1* descriptor);
CUresult cuCtxCreate(CUcontext* context, unsigned int flags, CUdevice device);
CUresult cuCtxDestroy(CUcontext context);
}
#pragma GCC visibility pop
