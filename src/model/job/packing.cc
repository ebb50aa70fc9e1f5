// SPDX-License-Identifier: Apache-2.0
#include "model/job/packing.h"

#include <algorithm>

namespace berth::model {
namespace {

// Steps, so that jobs nearly alike are alike to a decision.
constexpr std::int64_t kPackingComputeStep = 10;  // thousandths
constexpr std::int64_t kPackingMemoryStep = std::int64_t{256} << 20;

constexpr std::int64_t kWhole = base::kWholeGpu.value;
constexpr std::int64_t kPartMin =
    kWhole / (static_cast<std::int64_t>(kPackedMax) + 1) + 1;  // three are too many
constexpr std::int64_t kPartMax = kWhole - kPartMin;

std::int64_t packing_steps(std::int64_t amount, std::int64_t step) {
    return (amount + step - 1) / step * step;
}

}  // namespace

std::optional<GpuPart> packed_part(const GpuProfile& profile, const Node& smallest) {
    if (!profile.compute || profile.iterations < kIterationsToPack) return {};
    const std::int64_t used = packing_steps(profile.compute->value, kPackingComputeStep);
    // Rounded down: with steps of 10, two parts fit exactly when their sum of uses does.
    const std::int64_t compute = used * kWhole / kPackedTogetherMax.value;
    if (compute > kPartMax) return {};
    const std::int64_t stays = profile.persistent.value;
    const std::int64_t within = std::max(profile.peak.value - stays, std::int64_t{0});
    const std::int64_t memory =
        std::max(stays + stays / 10 + within + within / 20, profile.highest.value);
    const Bytes rounded{packing_steps(std::max(memory, std::int64_t{1}), kPackingMemoryStep)};
    if (rounded + smallest.gpu_context > memory_left_by_driver(smallest)) return {};
    return GpuPart{MilliGpu{std::max(compute, kPartMin)}, rounded};
}

bool can_share(const JobSpec& spec) {
    return spec.kind == JobKind::Train && spec.preemptible && spec.tasks_min == 1 &&
           spec.tasks_max == 1 && spec.companions.empty() && spec.request.gpus == 1 &&
           spec.request.is_whole();
}

TaskRequest asked(const JobSpec& spec) {
    TaskRequest request = spec.request;
    if (!spec.packed) return request;
    request.share = spec.packed->compute;
    request.gpu_memory = spec.packed->memory;
    return request;
}

}  // namespace berth::model
