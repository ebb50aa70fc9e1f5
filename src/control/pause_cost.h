// SPDX-License-Identifier: Apache-2.0
//
// What does stopping this job now destroy? The work since it started or last saved, when it does
// not save first, and what it takes to start it again.
#pragma once

#include "model/record.h"

namespace berth::control {

model::PauseCost pause_cost(const model::JobRecord& job, model::TimePoint now);

}  // namespace berth::control
