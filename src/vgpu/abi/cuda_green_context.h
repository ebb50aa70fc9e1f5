// SPDX-License-Identifier: Apache-2.0
//
// Green contexts: a part of a GPU's multiprocessors for some of a program's work. They live on the
// primary context and keep it. Since CUDA 12.4.
#pragma once

#include "vgpu/abi/cuda_process.h"

using CUgreenCtx = struct CUgreenCtx_st*;
using CUdevResourceDesc = struct CUdevResourceDesc_st*;

enum CUdevResourceType : unsigned int {
    CU_DEV_RESOURCE_TYPE_INVALID = 0,
    CU_DEV_RESOURCE_TYPE_SM = 1,
};
enum CUgreenCtxCreate_flags : unsigned int { CU_GREEN_CTX_DEFAULT_STREAM = 1 };

struct CUdevSmResource {
    unsigned int smCount;
};

struct CUdevResource {
    CUdevResourceType type;
    unsigned char internal[92];
    union {
        CUdevSmResource sm;
        unsigned char external[48];
    };
};

#pragma GCC visibility push(default)
extern "C" {
CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource, CUdevResourceType type);
CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* to, CUdevResource* resources,
                                   unsigned int count);
CUresult cuGreenCtxCreate(CUgreenCtx* green, CUdevResourceDesc desc, CUdevice device,
                          unsigned int flags);
CUresult cuGreenCtxDestroy(CUgreenCtx green);
CUresult cuCtxFromGreenCtx(CUcontext* to, CUgreenCtx context);
}
#pragma GCC visibility pop
