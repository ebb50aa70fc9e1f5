// SPDX-License-Identifier: Apache-2.0
//
// Is this state possible, whatever led to it? Counts what its records say and asks no index:
//   I1  nothing is used or promised beyond what is there    I2  no gang between 0 and its minimum
#pragma once

#include <string>
#include <vector>

#include "lifecycle/apply.h"

namespace berth::proof {

// One sentence for each finding.
std::vector<std::string> check_state(const lifecycle::State& state);

}  // namespace berth::proof
