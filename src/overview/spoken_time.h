// SPDX-License-Identifier: Apache-2.0
//
// How is a time said in a sentence? No times of day: who reads it may live in another zone than the
// server.
#pragma once

#include <string>

#include "model/answer/job_timeline.h"

namespace berth::overview {

// "42 s", "3 h 12 min": two units at most, and one where the second says little.
std::string spoken(model::Duration time);

// " in about 30 min (20 min to 1 h)", rounded to what an estimate is worth; empty where it is not
// known.
std::string in_about(const model::Band& band, model::TimePoint now);

}  // namespace berth::overview
