// SPDX-License-Identifier: Apache-2.0
//
// What is a job expected to be from now on? By the estimate of its start, where it waits, and of
// the time that it still runs: halved, as expected, doubled.
//
// Guarantees: nothing where nothing is known; else the spans begin now, each begins where the one
// before it ends, and no moment of a band is before the one left of it.
#pragma once

#include <optional>
#include <vector>

#include "model/answer/job_timeline.h"
#include "model/record.h"

namespace berth::timeline {

std::vector<model::ExpectedSpan> expected(const model::JobRecord& job,
                                          const std::optional<model::StartEstimate>& start,
                                          const model::RunTime& run, model::TimePoint now);

}  // namespace berth::timeline
