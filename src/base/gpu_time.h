// SPDX-License-Identifier: Apache-2.0
//
// How much GPU time do some GPUs give in some time?
#pragma once

#include "base/quantity.h"

namespace berth::base {

// More than any job has, and small enough to add up.
inline constexpr std::int64_t kGpuMsMax = INT64_MAX / 2000;

// In milliseconds of one GPU; at most kGpuMsMax.
constexpr std::int64_t gpu_ms(MilliGpu gpus, Duration time) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(gpus.value, time.count(), &product)) return kGpuMsMax;
    return product / 1000 < kGpuMsMax ? product / 1000 : kGpuMsMax;
}

}  // namespace berth::base
