// SPDX-License-Identifier: Apache-2.0
//
// Which operation is a kernel launch: how long, on how much of the GPU, with what effect?
#pragma once

#include "vgpu/abi/cuda.h"
#include "vgpu/software_driver/work/stream.h"

namespace berth::vgpu::software_driver {

struct Extent {
    unsigned int x = 1;
    unsigned int y = 1;
    unsigned int z = 1;
    std::uint64_t product() const { return std::uint64_t{x} * y * z; }
};

struct Launch {
    CUfunction function = nullptr;
    Extent grid;
    Extent block;
    void** parameters = nullptr;  // a pointer to each argument,
    void** extra = nullptr;       // or all of them packed
};

// Reads the arguments at once. Errors: no such function, an empty grid, arguments missing.
CUresult make_kernel(Driver& driver, const Launch& launch, Operation& kernel);

}  // namespace berth::vgpu::software_driver
