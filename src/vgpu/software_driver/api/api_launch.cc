// SPDX-License-Identifier: Apache-2.0
//
// Launches of kernels.
#include "vgpu/software_driver/api/twin.h"
#include "vgpu/software_driver/driver.h"
#include "vgpu/software_driver/work/launch.h"

using namespace berth::vgpu::software_driver;

namespace {

// A launch waits while so much is in its stream, as a real driver's does.
constexpr std::uint64_t kQueueMax = 1024;

CUresult wait_for_room(Driver& driver, Lock& lock, const Stream& stream) {
    if (stream.operations.size() < kQueueMax) return CUDA_SUCCESS;
    const auto progress = stream.progress;
    const std::uint64_t enough = stream.queued - kQueueMax + 1;
    return wait_until(driver, lock, [&] { return progress->done >= enough; });
}

CUresult launch_in(Default meant, CUstream handle, const Launch& wanted) {
    return enter_stream(
        meant, handle, [&](Driver& driver, Context&, Stream& stream, Lock& lock) -> CUresult {
            Operation kernel;
            if (const CUresult result = make_kernel(driver, wanted, kernel); result != CUDA_SUCCESS)
                return result;
            if (const CUresult result = wait_for_room(driver, lock, stream); result != CUDA_SUCCESS)
                return result;
            return enqueue(driver, stream, std::move(kernel));
        });
}

CUresult launch_kernel(Default meant, CUfunction function, Extent grid, Extent block,
                       CUstream stream, void** parameters, void** extra) {
    return launch_in(meant, stream, {function, grid, block, parameters, extra});
}

CUresult launch_config(Default meant, const CUlaunchConfig* config, CUfunction function,
                       void** parameters, void** extra) {
    if (config == nullptr || (config->attrs == nullptr && config->numAttrs != 0))
        return CUDA_ERROR_INVALID_VALUE;
    const CUlaunchConfig& c = *config;
    return launch_in(meant, c.hStream,
                     {function,
                      {c.gridDimX, c.gridDimY, c.gridDimZ},
                      {c.blockDimX, c.blockDimY, c.blockDimZ},
                      parameters,
                      extra});
}

}  // namespace

BERTH_TWIN(cuLaunchKernel, _ptsz, launch_kernel,
           (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
            unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int,
            CUstream stream, void** parameters, void** extra),
           function, Extent{grid_x, grid_y, grid_z}, Extent{block_x, block_y, block_z}, stream,
           parameters, extra)
BERTH_TWIN(cuLaunchCooperativeKernel, _ptsz, launch_kernel,
           (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
            unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int,
            CUstream stream, void** parameters),
           function, Extent{grid_x, grid_y, grid_z}, Extent{block_x, block_y, block_z}, stream,
           parameters, nullptr)
BERTH_TWIN(cuLaunchKernelEx, _ptsz, launch_config,
           (const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra),
           config, function, parameters, extra)

CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS* launches, unsigned int count,
                                              unsigned int) {
    if (launches == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < count; ++i) {
        const CUDA_LAUNCH_PARAMS& one = launches[i];
        const CUresult result = launch_in(Default::Legacy, one.hStream,
                                          {one.function,
                                           {one.gridDimX, one.gridDimY, one.gridDimZ},
                                           {one.blockDimX, one.blockDimY, one.blockDimZ},
                                           one.kernelParams,
                                           nullptr});
        if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
}

CUresult cuProfilerStart() { return CUDA_SUCCESS; }
CUresult cuProfilerStop() { return CUDA_SUCCESS; }
