// SPDX-License-Identifier: Apache-2.0
//
// What should a job ask for next time? Advice rests on what was measured, paused or lost; where
// nothing is known there is none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/record.h"

namespace berth::ledger {

struct Advice {
    model::GpuUse use = model::GpuUse::AllocatedIdle;  // that it makes less
    // At most so much of that use would not have been, in thousandths of GPU milliseconds; never
    // more than there was. 0 = it makes a job faster, and frees no GPU that can be counted.
    std::int64_t gets = 0;
    std::string act;  // "--park-after 30m gives its GPUs back while it does nothing"
};

// Work was measured, and most of its time. Idle time alone is known of other jobs too: of those
// that were parked, or ended while no server was there.
bool is_measured(const model::GpuTimes& times);

// `times`: all it had. In the order of kGpuUses; two that make the same use less do not add up.
std::vector<Advice> advice(const model::JobRecord& job, const model::GpuTimes& times);

}  // namespace berth::ledger
