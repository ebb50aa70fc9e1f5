// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lifecycle/apply.h"
#include "model/plan.h"
#include "model/policy/policy.h"

namespace berth::proof {

// I10: after settling, jobs that could start at once although nothing more is decided. `plan` says
// which GPUs are kept for whom.
std::vector<std::string> check_idle(const lifecycle::State& state, const model::Policy& policy,
                                    model::TimePoint now, const model::Plan& plan);

}  // namespace berth::proof
