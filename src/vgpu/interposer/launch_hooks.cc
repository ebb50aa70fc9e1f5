// SPDX-License-Identifier: Apache-2.0
//
// Launches. Where no GPU of the tenant is gated, which is so for whoever is alone on its GPUs, a
// launch costs one load more than without this library.
#include "vgpu/interposer/charged_call.h"
#include "vgpu/interposer/pools.h"
#include "vgpu/interposer/work.h"

using namespace berth::vgpu::interposer;

namespace {

bool is_gated() { return gated_word->load(std::memory_order_relaxed) != 0; }

template <class Call>
[[gnu::noinline]] CUresult gated(CUstream stream, Call call) {
    const GatedLaunch launch(stream);
    const CUresult result = call();
    launch.launched(result);
    return result;
}

CUstream per_thread(CUstream stream) { return stream == nullptr ? cu_stream_per_thread() : stream; }

template <class Call>
CUresult graph_launch(CUstream stream, Call call) {
    const CUresult result = is_gated() ? gated(stream, call) : call();
    if (is_tenant()) settle_graph_memory(here().gpu);
    return result;
}

}  // namespace

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                        void** parameters, void** extra) {
    const RealDriver& real = load_real_driver();
    if (real.cuLaunchKernel == nullptr) [[unlikely]]
        return missing();
    const auto call = [&] {
        return real.cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                   shared_bytes, stream, parameters, extra);
    };
    if (!is_gated()) [[likely]]
        return call();
    return gated(stream, call);
}

CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                             unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                             unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                             void** parameters, void** extra) {
    const RealDriver& real = load_real_driver();
    if (real.cuLaunchKernel_ptsz == nullptr) [[unlikely]]
        return missing();
    const auto call = [&] {
        return real.cuLaunchKernel_ptsz(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                        shared_bytes, stream, parameters, extra);
    };
    if (!is_gated()) [[likely]]
        return call();
    return gated(per_thread(stream), call);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
    const RealDriver& real = load_real_driver();
    if (real.cuLaunchKernelEx == nullptr) return missing();
    const auto call = [&] { return real.cuLaunchKernelEx(config, function, parameters, extra); };
    return is_gated() && config != nullptr ? gated(config->hStream, call) : call();
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void** parameters,
                               void** extra) {
    const RealDriver& real = load_real_driver();
    if (real.cuLaunchKernelEx_ptsz == nullptr) return missing();
    const auto call = [&] {
        return real.cuLaunchKernelEx_ptsz(config, function, parameters, extra);
    };
    return is_gated() && config != nullptr ? gated(per_thread(config->hStream), call) : call();
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                   void** parameters) {
    const RealDriver& real = load_real_driver();
    if (real.cuLaunchCooperativeKernel == nullptr) return missing();
    const auto call = [&] {
        return real.cuLaunchCooperativeKernel(function, grid_x, grid_y, grid_z, block_x, block_y,
                                              block_z, shared_bytes, stream, parameters);
    };
    return is_gated() ? gated(stream, call) : call();
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned int grid_x,
                                        unsigned int grid_y, unsigned int grid_z,
                                        unsigned int block_x, unsigned int block_y,
                                        unsigned int block_z, unsigned int shared_bytes,
                                        CUstream stream, void** parameters) {
    const RealDriver& real = load_real_driver();
    if (real.cuLaunchCooperativeKernel_ptsz == nullptr) return missing();
    const auto call = [&] {
        return real.cuLaunchCooperativeKernel_ptsz(function, grid_x, grid_y, grid_z, block_x,
                                                   block_y, block_z, shared_bytes, stream,
                                                   parameters);
    };
    return is_gated() ? gated(per_thread(stream), call) : call();
}

CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS* launches, unsigned int count,
                                              unsigned int flags) {
    const RealDriver& real = load_real_driver();
    if (real.cuLaunchCooperativeKernelMultiDevice == nullptr) return missing();
    const auto call = [&] {
        return real.cuLaunchCooperativeKernelMultiDevice(launches, count, flags);
    };
    return is_gated() && launches != nullptr && count > 0 ? gated(launches->hStream, call) : call();
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    const RealDriver& real = load_real_driver();
    if (real.cuGraphLaunch == nullptr) return missing();
    return graph_launch(stream, [&] { return real.cuGraphLaunch(exec, stream); });
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream) {
    const RealDriver& real = load_real_driver();
    if (real.cuGraphLaunch_ptsz == nullptr) return missing();
    return graph_launch(per_thread(stream), [&] { return real.cuGraphLaunch_ptsz(exec, stream); });
}
