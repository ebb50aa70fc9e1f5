// SPDX-License-Identifier: Apache-2.0
#include "model/job/job.h"

#include <cstdlib>

namespace berth::model {
namespace {

__extension__ using Wide = __int128;

std::int64_t thousandths(Bytes part, Bytes all, std::int64_t more) {
    constexpr std::int64_t kNarrow = std::int64_t{1} << 53;
    if (part.value < kNarrow && all.value < kNarrow) return (part.value * 1000 + more) / all.value;
    return static_cast<std::int64_t>((Wide{part.value} * 1000 + more) / all.value);
}

}  // namespace

Bytes memory_left_by_driver(const Node& node) {
    return std::max(node.gpu_memory - node.gpu_reserved, Bytes{0});
}

MilliGpu part_rounded_down(Bytes part, Bytes all) {
    return all == Bytes{0} ? MilliGpu{0} : MilliGpu{thousandths(part, all, 0)};
}

MilliGpu part_rounded_up(Bytes part, Bytes all) {
    return all == Bytes{0} ? MilliGpu{0} : MilliGpu{thousandths(part, all, all.value - 1)};
}

std::optional<GpuPart> part_of(const TaskRequest& request, const Node& node) {
    if (request.is_whole()) return GpuPart{base::kWholeGpu, {}};
    const Bytes all = memory_left_by_driver(node);
    const Bytes context = node.gpu_context;
    if (request.gpu_memory == Bytes{0}) {
        const Bytes granted{
            static_cast<std::int64_t>(Wide{all.value} * request.share.value / 1000)};
        const bool is_known = node.gpu_memory > Bytes{0};
        if (is_known && context > Bytes{0} && granted <= context) return {};
        return GpuPart{request.share, granted};
    }
    if (Wide{request.gpu_memory.value} + context.value > all.value) return {};
    const Bytes wanted = request.gpu_memory + context;
    if (request.share != base::kWholeGpu) return GpuPart{request.share, wanted};
    return GpuPart{std::max(part_rounded_down(wanted, all), MilliGpu{1}), wanted};
}

std::optional<MilliGpu> share_of(const TaskRequest& request, const Node& node) {
    const std::optional<GpuPart> part = part_of(request, node);
    if (!part) return {};
    return std::max(part->compute, part_rounded_up(part->memory, memory_left_by_driver(node)));
}

std::string format_part(const GpuPart& part, MilliGpu memory_share) {
    const std::int64_t apart = part.compute.value - memory_share.value;  // 1: by rounding
    if (part.memory == Bytes{0} || std::abs(apart) <= 1) {
        return base::format(std::max(part.compute, memory_share));
    }
    return base::format(part.compute) + "+" + base::format(part.memory);
}

}  // namespace berth::model
