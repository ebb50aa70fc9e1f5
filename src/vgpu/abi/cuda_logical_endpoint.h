// SPDX-License-Identifier: Apache-2.0
//
// Logical endpoints: memory of GPUs of several machines that is written and read at once, bound as
// to a multicast object. Since CUDA 13.3.
#pragma once

#include <cstdint>

#include "vgpu/abi/cuda_values.h"

using CUlogicalEndpointId = std::uint32_t;

#pragma GCC visibility push(default)
extern "C" {
// `prop` and `handle`: structs that we need not know.
CUresult cuLogicalEndpointCreate(CUlogicalEndpointId id, const void* prop);
CUresult cuLogicalEndpointImport(CUlogicalEndpointId id, const void* handle, unsigned int type);
}
#pragma GCC visibility pop
