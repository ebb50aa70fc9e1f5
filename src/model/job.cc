// SPDX-License-Identifier: Apache-2.0
#include "model/job.h"

#include <algorithm>

namespace berth::model {

__extension__ using Wide = __int128;

std::optional<MilliGpu> share_of(const TaskRequest& request, const Node& node) {
    if (request.is_whole()) return base::kWholeGpu;
    const std::int64_t context = node.gpu_context.value;
    const std::int64_t all = node.gpu_memory.value - node.gpu_reserved.value;
    const bool is_part = request.share != base::kWholeGpu;
    const Wide granted = Wide{all} * request.share.value / 1000;
    if (is_part && context > 0 && node.gpu_memory > Bytes{0} && granted <= context) return {};
    if (request.gpu_memory == Bytes{0}) return request.share;
    const Wide wanted = Wide{request.gpu_memory.value} + context;
    if (all <= 0 || wanted > all) return {};
    const MilliGpu part{static_cast<std::int64_t>((wanted * 1000 + all - 1) / all)};
    return is_part ? std::max(part, request.share) : part;
}

}  // namespace berth::model
