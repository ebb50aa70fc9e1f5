// SPDX-License-Identifier: Apache-2.0
//
// Launches. Each is noted; where no GPU of the tenant is gated, as for a tenant alone on its GPUs,
// that is all.
#include "vgpu/interposer/process/charged_call.h"
#include "vgpu/interposer/process/iterating.h"
#include "vgpu/interposer/process/pools.h"
#include "vgpu/interposer/process/work.h"

using namespace berth::vgpu;
using namespace berth::vgpu::interposer;

namespace {

bool is_gated() { return gated_word->load(std::memory_order_relaxed) != 0; }

template <class Call>
CUresult gated(iterations::Passage passage, CUstream stream, Call call) {
    const GatedLaunch launch(stream, passage);
    const CUresult result = call();
    launch.launched(result);
    return result;
}

bool ends(iterations::Passage passage) { return (passage & iterations::kEnds) != 0; }

// Nothing more is to be done about a launch than to pass it on.
bool is_plain(iterations::Passage passage) { return !is_gated() && !ends(passage); }

template <class Call>
[[gnu::noinline]] CUresult launch_noted(iterations::Passage passage, CUstream stream, Call call) {
    const CUresult result = is_gated() ? gated(passage, stream, call) : call();
    if (ends(passage)) measure_iterations();
    return result;
}

// `work` is the function or graph that is launched.
template <class Call>
CUresult launch(const void* work, CUstream stream, Call call) {
    const auto passage = note_launch(work);
    return is_plain(passage) ? call() : launch_noted(passage, stream, call);
}

CUstream per_thread(CUstream stream) { return stream == nullptr ? cu_stream_per_thread() : stream; }

template <class Call>
CUresult graph_launch(CUgraphExec graph, CUstream stream, Call call) {
    const CUresult result = launch(graph, stream, call);
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
    const auto passage = note_launch(function);
    if (is_plain(passage)) [[likely]]
        return real.cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                   shared_bytes, stream, parameters, extra);
    return launch_noted(passage, stream, [&] {
        return real.cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                   shared_bytes, stream, parameters, extra);
    });
}

CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                             unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                             unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                             void** parameters, void** extra) {
    const RealDriver& real = load_real_driver();
    if (real.cuLaunchKernel_ptsz == nullptr) [[unlikely]]
        return missing();
    const auto passage = note_launch(function);
    if (is_plain(passage)) [[likely]]
        return real.cuLaunchKernel_ptsz(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                        shared_bytes, stream, parameters, extra);
    return launch_noted(passage, per_thread(stream), [&] {
        return real.cuLaunchKernel_ptsz(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                        shared_bytes, stream, parameters, extra);
    });
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
    const RealDriver& real = load_real_driver();
    if (real.cuLaunchKernelEx == nullptr) return missing();
    const auto call = [&] { return real.cuLaunchKernelEx(config, function, parameters, extra); };
    return config == nullptr ? call() : launch(function, config->hStream, call);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void** parameters,
                               void** extra) {
    const RealDriver& real = load_real_driver();
    if (real.cuLaunchKernelEx_ptsz == nullptr) return missing();
    const auto call = [&] {
        return real.cuLaunchKernelEx_ptsz(config, function, parameters, extra);
    };
    return config == nullptr ? call() : launch(function, per_thread(config->hStream), call);
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
    return launch(function, stream, call);
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
    return launch(function, per_thread(stream), call);
}

CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS* launches, unsigned int count,
                                              unsigned int flags) {
    const RealDriver& real = load_real_driver();
    if (real.cuLaunchCooperativeKernelMultiDevice == nullptr) return missing();
    const auto call = [&] {
        return real.cuLaunchCooperativeKernelMultiDevice(launches, count, flags);
    };
    if (launches == nullptr || count == 0) return call();
    return launch(launches->function, launches->hStream, call);
}

CUresult cuLaunch(CUfunction function) {
    const RealDriver& real = load_real_driver();
    if (real.cuLaunch == nullptr) return missing();
    return launch(function, nullptr, [&] { return real.cuLaunch(function); });
}

CUresult cuLaunchGrid(CUfunction function, int width, int height) {
    const RealDriver& real = load_real_driver();
    if (real.cuLaunchGrid == nullptr) return missing();
    return launch(function, nullptr, [&] { return real.cuLaunchGrid(function, width, height); });
}

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
    const RealDriver& real = load_real_driver();
    if (real.cuLaunchGridAsync == nullptr) return missing();
    return launch(function, stream,
                  [&] { return real.cuLaunchGridAsync(function, width, height, stream); });
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    const RealDriver& real = load_real_driver();
    if (real.cuGraphLaunch == nullptr) return missing();
    return graph_launch(exec, stream, [&] { return real.cuGraphLaunch(exec, stream); });
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream) {
    const RealDriver& real = load_real_driver();
    if (real.cuGraphLaunch_ptsz == nullptr) return missing();
    return graph_launch(exec, per_thread(stream),
                        [&] { return real.cuGraphLaunch_ptsz(exec, stream); });
}
