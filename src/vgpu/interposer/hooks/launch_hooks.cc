// SPDX-License-Identifier: Apache-2.0
//
// Launches. Each is noted; where no GPU of the tenant is gated, as for a tenant alone on its GPUs,
// that is all.
#include "vgpu/interposer/driver/real_driver.h"
#include "vgpu/interposer/process/iterating.h"
#include "vgpu/interposer/process/pools.h"
#include "vgpu/interposer/process/work.h"

using namespace berth::vgpu;
using namespace berth::vgpu::interposer;

namespace {

bool is_gated() { return gated_word->load(std::memory_order_relaxed) != 0; }
bool ends(iterations::Passage passage) { return (passage & iterations::kEnds) != 0; }

template <class Ask, class... Arguments>
[[gnu::noinline]] CUresult launch_noted(iterations::Passage passage, CUstream stream, Ask ask,
                                        const Arguments&... arguments) {
    CUresult result = CUDA_SUCCESS;
    if (is_gated()) {
        const GatedLaunch launch(stream, passage);
        result = ask(arguments...);
        launch.launched(result);
    } else {
        result = ask(arguments...);
    }
    if (ends(passage)) measure_iterations();
    return result;
}

// `work` is the function or graph that is launched. Mostly there is nothing more to be done about
// it than to pass it on.
template <class Call, class Ask, class... Arguments>
CUresult launch(Call /*call*/, const void* work, const CUstream& stream, Ask ask,
                const Arguments&... arguments) {
    const auto passage = note_launch(work);
    if (!is_gated() && !ends(passage)) [[likely]]
        return ask(arguments...);
    return launch_noted(passage, stream, ask, arguments...);
}

template <class Call, class Meant, class... Asking>
CUresult launch_configured(Call call, const CUlaunchConfig* config, CUfunction function,
                           Meant meant, const Asking&... asking) {
    if (config == nullptr) return call();
    return launch(call, function, meant(config->hStream), asking...);
}

template <class Call, class... Asking>
CUresult launch_several(Call call, const CUDA_LAUNCH_PARAMS* launches, unsigned int count,
                        const Asking&... asking) {
    if (launches == nullptr || count == 0) return call();
    return launch(call, launches->function, launches->hStream, asking...);
}

template <class Call, class... Asking>
CUresult launch_graph(Call call, CUgraphExec graph, CUstream stream, const Asking&... asking) {
    const CUresult result = launch(call, graph, stream, asking...);
    if (is_tenant()) settle_graph_memory(here().gpu);
    return result;
}

}  // namespace

#include "vgpu/interposer/generated/launch_hooks.inc"
