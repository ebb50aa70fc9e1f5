// SPDX-License-Identifier: Apache-2.0
//
// How large is an array? The driver does not say: its elements are counted, which leaves out what a
// GPU adds to arrange them.
#pragma once

#include <cstdint>

#include "vgpu/abi/cuda.h"

namespace berth::vgpu::interposer {

std::uint64_t bytes_of(const CUDA_ARRAY3D_DESCRIPTOR& of);

}  // namespace berth::vgpu::interposer
