// SPDX-License-Identifier: Apache-2.0
//
// Contexts for programs that draw: with OpenGL, or with VDPAU's decoder.
#pragma once

#include "vgpu/abi/cuda_process.h"

#pragma GCC visibility push(default)
extern "C" {
CUresult cuGLCtxCreate(CUcontext* context, unsigned int flags, CUdevice device);
CUresult cuGLCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device);
// `decoder` is a VdpDevice and `look_up` a pointer to VdpGetProcAddress.
CUresult cuVDPAUCtxCreate(CUcontext* context, unsigned int flags, CUdevice device,
                          unsigned int decoder, void* look_up);
CUresult cuVDPAUCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device,
                             unsigned int decoder, void* look_up);
}
#pragma GCC visibility pop
