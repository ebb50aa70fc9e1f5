// SPDX-License-Identifier: Apache-2.0
//
// The part of the CUDA driver API that Berth uses, all of it.
#pragma once

#include "vgpu/abi/cuda_execution_calls.h"
#include "vgpu/abi/cuda_first_versions.h"
#include "vgpu/abi/cuda_graph.h"
#include "vgpu/abi/cuda_graphics.h"
#include "vgpu/abi/cuda_green_context.h"
#include "vgpu/abi/cuda_logical_endpoint.h"
#include "vgpu/abi/cuda_memory_calls.h"
#include "vgpu/abi/cuda_multicast.h"
#include "vgpu/abi/cuda_process.h"
