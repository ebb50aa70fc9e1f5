// SPDX-License-Identifier: Apache-2.0
//
// Which places and which box do the parameters of a 2-D or 3-D copy describe?
#pragma once

#include "vgpu/software_driver/work/move.h"

namespace berth::vgpu::software_driver {

// Errors: CUDA_ERROR_INVALID_VALUE for a null pointer or an array that does not exist.
CUresult read_copy(Driver& driver, const CUDA_MEMCPY3D& parameters, Copy& copy);

// The same copy as one of depth 1.
CUDA_MEMCPY3D widened(const CUDA_MEMCPY2D& parameters);

}  // namespace berth::vgpu::software_driver
