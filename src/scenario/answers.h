// SPDX-License-Identifier: Apache-2.0
//
// What would people read of a job or a project between two decisions? Nothing is decided by it.
// One line for each sentence, as in a scenario file without its "> ".
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "lifecycle/apply.h"
#include "model/answer/verdict.h"
#include "model/policy/policy.h"
#include "scenario/script.h"

namespace berth::scenario {

// The sum that decided why a job waits; "nothing" where none did.
std::vector<std::string> sum_lines(const lifecycle::State& state, const model::Verdict& verdict);

// What the order of its project says of the job. Brings the ranks up to `now`.
std::vector<std::string> order_lines(lifecycle::State& state, const model::Policy& policy,
                                     model::TimePoint now, model::JobId job);

// How a project came to its fair share of a pool. Errors: Invalid for a name that is not there.
base::Result<std::vector<std::string>> account_lines(const lifecycle::State& state,
                                                     const model::Policy& policy,
                                                     model::TimePoint now, const Command& command);

}  // namespace berth::scenario
