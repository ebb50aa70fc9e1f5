// SPDX-License-Identifier: Apache-2.0
//
// How is it shown what all jobs were in some time? A sentence, and a line for each job with a bar:
// one character for each part of that time, by what the job was for most of it.
#pragma once

#include <string>

#include "cli/terminal/style.h"
#include "model/answer/cluster_timeline.h"

namespace berth::cli {

std::string spans_page(const model::ClusterTimeline& timeline, const Style& style);

}  // namespace berth::cli
