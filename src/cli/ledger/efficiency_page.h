// SPDX-License-Identifier: Apache-2.0
//
// What did a job make of its GPUs, and what should be asked for next time? Advice rests on what was
// measured, paused or lost; where nothing is known, that is said instead.
#pragma once

#include <string>

#include "cli/terminal/style.h"
#include "codec/api/json_api.h"

namespace berth::cli {

std::string efficiency_page(const codec::JobView& job, base::TimePoint now, const Style& style);

}  // namespace berth::cli
