// SPDX-License-Identifier: Apache-2.0
//
// Launches of before CUDA 4.0: what a launch needs is kept with the function, call by call.
#include <cstring>

#include "vgpu/software_driver/driver.h"

using namespace berth::vgpu::software_driver;

namespace {

constexpr unsigned int kArgumentBytesMax = 4096;

template <class Body>
CUresult enter_function(CUfunction handle, Body body) {
    return enter([&](Driver& driver, Lock&) -> CUresult {
        Function* function = driver.functions.find(handle);
        return function == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(*function);
    });
}

CUresult keep(CUfunction handle, int offset, const void* from, unsigned int bytes) {
    if (from == nullptr || offset < 0) return CUDA_ERROR_INVALID_VALUE;
    const auto at = static_cast<std::size_t>(offset);
    if (at + bytes > kArgumentBytesMax) return CUDA_ERROR_INVALID_VALUE;
    return enter_function(handle, [&](Function& function) {
        if (function.arguments.size() < at + bytes) function.arguments.resize(at + bytes);
        std::memcpy(function.arguments.data() + at, from, bytes);
        return CUDA_SUCCESS;
    });
}

}  // namespace

CUresult cuFuncSetBlockShape(CUfunction handle, int x, int y, int z) {
    if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
    return enter_function(handle, [&](Function& function) {
        function.block[0] = static_cast<unsigned int>(x);
        function.block[1] = static_cast<unsigned int>(y);
        function.block[2] = static_cast<unsigned int>(z);
        return CUDA_SUCCESS;
    });
}

CUresult cuFuncSetSharedSize(CUfunction handle, unsigned int) {
    return enter_function(handle, [](Function&) { return CUDA_SUCCESS; });
}

CUresult cuParamSetSize(CUfunction handle, unsigned int bytes) {
    if (bytes > kArgumentBytesMax) return CUDA_ERROR_INVALID_VALUE;
    return enter_function(handle, [&](Function& function) {
        function.arguments.resize(bytes);
        return CUDA_SUCCESS;
    });
}

CUresult cuParamSeti(CUfunction handle, int offset, unsigned int value) {
    return keep(handle, offset, &value, sizeof(value));
}

CUresult cuParamSetf(CUfunction handle, int offset, float value) {
    return keep(handle, offset, &value, sizeof(value));
}

CUresult cuParamSetv(CUfunction handle, int offset, void* from, unsigned int bytes) {
    return keep(handle, offset, from, bytes);
}

CUresult cuLaunch(CUfunction function) { return cuLaunchGridAsync(function, 1, 1, nullptr); }

CUresult cuLaunchGrid(CUfunction function, int width, int height) {
    return cuLaunchGridAsync(function, width, height, nullptr);
}

CUresult cuLaunchGridAsync(CUfunction handle, int width, int height, CUstream stream) {
    if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
    Function kept;
    const CUresult found = enter_function(handle, [&](Function& function) {
        kept = function;
        return CUDA_SUCCESS;
    });
    if (found != CUDA_SUCCESS) return found;
    std::size_t bytes = kept.arguments.size();
    void* extra[] = {cu_launch_param_buffer_pointer(), kept.arguments.data(),
                     cu_launch_param_buffer_size(), &bytes, cu_launch_param_end()};
    return cuLaunchKernel(handle, static_cast<unsigned int>(width),
                          static_cast<unsigned int>(height), 1, kept.block[0], kept.block[1],
                          kept.block[2], 0, stream, nullptr, extra);
}
