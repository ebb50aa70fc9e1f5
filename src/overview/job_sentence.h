// SPDX-License-Identifier: Apache-2.0
//
// How is it with one job, since when, and what comes next? One sentence, that begins with its name.
// Durations and no times of day: who reads it may live in another zone than the server.
#pragma once

#include <string>
#include <vector>

#include "model/answer/job_timeline.h"
#include "model/record.h"

namespace berth::overview {

// Whether any state of the cluster would let it run.
enum class Chance : std::uint8_t { Runs, Never };

// `expected`: as timeline/expected.h makes it.
std::string job_sentence(const model::JobRecord& job,
                         const std::vector<model::ExpectedSpan>& expected, Chance chance,
                         model::TimePoint now);

}  // namespace berth::overview
