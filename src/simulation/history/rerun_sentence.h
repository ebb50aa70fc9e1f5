// SPDX-License-Identifier: Apache-2.0
//
// What would the change have done, in one sentence, and how far is the simulation from what
// happened, in another one?
#pragma once

#include <string>

#include "model/answer/what_if_replay.h"

namespace berth::simulation {

// "Jobs would have waited 4 min on average, not 12 min; vision gains most, 22 min a job."
std::string rerun_sentence(const model::WhatIfReplay& answer);
// "Both sides are simulated. As it was set, the simulation says 12 min; jobs really waited 14 min."
std::string trust_sentence(const model::WhatIfReplay& answer);

}  // namespace berth::simulation
