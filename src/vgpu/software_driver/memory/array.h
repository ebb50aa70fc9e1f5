// SPDX-License-Identifier: Apache-2.0
//
// What is a CUDA array here? Plain memory, row after row, that cuMemcpy reaches.
#pragma once

#include <vector>

#include "vgpu/abi/cuda.h"

namespace berth::vgpu::software_driver {

struct Context;

struct Array {
    const Context* context = nullptr;
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {};
    std::size_t element_bytes = 0;
    CUdeviceptr pointer = 0;
    bool is_level = false;  // of a mipmapped array, which owns its memory

    std::size_t row_bytes() const { return descriptor.Width * element_bytes; }
    std::size_t rows() const { return descriptor.Height == 0 ? 1 : descriptor.Height; }
    std::size_t layers() const { return descriptor.Depth == 0 ? 1 : descriptor.Depth; }
    std::size_t bytes() const { return row_bytes() * rows() * layers(); }
};

struct MipmappedArray {
    const Context* context = nullptr;
    std::vector<Array*> levels;
    CUdeviceptr pointer = 0;
};

}  // namespace berth::vgpu::software_driver
