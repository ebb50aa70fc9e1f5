// SPDX-License-Identifier: Apache-2.0
//
// How is it shown what a job was, and is expected to be? A line for each span, the expected ones
// behind them.
#pragma once

#include <string>

#include "cli/terminal/style.h"
#include "cli/terminal/time_text.h"
#include "codec/api/json_api.h"
#include "model/answer/job_timeline.h"

namespace berth::cli {

// Empty when there are no spans.
std::string timeline_page(const model::JobTimeline& timeline, const codec::NameTable& names,
                          TimeForm form, const Style& style);

}  // namespace berth::cli
