// SPDX-License-Identifier: Apache-2.0
//
// Random companions for the lines of random_script.h, and nodes without GPUs for them.
#pragma once

#include <string>
#include <vector>

#include "base/rng.h"

namespace berth::proof {

std::vector<std::string> random_host_nodes(base::Rng& rng, int pools);

// The same line; where it submits a job that does not share its GPU, half of them have companions.
std::string with_companions(base::Rng& rng, std::string line);

}  // namespace berth::proof
