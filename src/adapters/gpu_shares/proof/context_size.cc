// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/proof/context_size.h"

#include <charconv>
#include <map>

namespace berth::gpu_shares {
namespace {

constexpr int kTriesMax = 2;
constexpr int kContextPatienceMs = 30'000;  // a driver of many GPUs takes seconds to start

}  // namespace

base::Result<base::Bytes> context_of(const Gpu& gpu, ChildOrder probe) {
    if (probe.words.empty())
        return base::fail(base::ErrorCode::Unavailable, "the GPU has no probe");
    probe.words = {probe.words.front(), "context", "libnvidia-ml.so.1", gpu.uuid};
    probe.tells_errors = true;
    probe.environment.push_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
    probe.environment.push_back("CUDA_VISIBLE_DEVICES=" + (gpu.visible_as.empty()
                                                               ? std::to_string(gpu.index)
                                                               : gpu.visible_as));
    BERTH_TRY(child, Child::start(probe));
    auto answer = child.answer(kContextPatienceMs);
    child.kill();
    if (!answer) return tl::unexpected(answer.error());
    base::Bytes bytes{0};
    const char* const end = answer->data() + answer->size();
    const auto read = std::from_chars(answer->data(), end, bytes.value);
    if (read.ec == std::errc{} && read.ptr == end && bytes.value >= 0) return bytes;
    return base::fail(base::ErrorCode::Unavailable, "\"" + *answer + "\" is no size of a context");
}

void measure_contexts(std::vector<Gpu>& gpus, const MeasureContext& measure) {
    std::map<base::Bytes, base::Bytes> measured;  // by the memory of their kind
    std::map<base::Bytes, int> tries;
    for (const Gpu& gpu : gpus) {
        if (gpu.context.value > 0 || gpu.takes_one_process || measured.contains(gpu.memory))
            continue;
        if (++tries[gpu.memory] > kTriesMax) continue;
        if (const auto bytes = measure(gpu)) measured[gpu.memory] = *bytes;
    }
    for (Gpu& gpu : gpus) {
        const auto found = measured.find(gpu.memory);
        if (gpu.context.value == 0 && found != measured.end()) gpu.context = found->second;
    }
}

}  // namespace berth::gpu_shares
