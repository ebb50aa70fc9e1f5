// SPDX-License-Identifier: Apache-2.0
#include "model/job/gpu_profile.h"

#include <algorithm>

namespace berth::model {
namespace {

constexpr std::int64_t kComputeStep = 50;  // thousandths
constexpr std::int64_t kMemoryStep = std::int64_t{512} << 20;

std::int64_t whole_steps(std::int64_t amount, std::int64_t step) {
    return (amount + step - 1) / step * step;
}

}  // namespace

std::optional<GpuPart> fitting_part(const GpuProfile& profile) {
    if (!profile.compute) return std::nullopt;
    const std::int64_t compute = whole_steps(profile.compute->value * 11 / 10 + 1, kComputeStep);
    const std::int64_t highest = profile.highest.value;
    return GpuPart{MilliGpu{std::min(compute, base::kWholeGpu.value)},
                   Bytes{whole_steps(highest + highest / 20, kMemoryStep)}};
}

}  // namespace berth::model
