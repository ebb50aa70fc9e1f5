// SPDX-License-Identifier: Apache-2.0
//
// Does something hold for each of many seeds? What the programs that ask so have in common:
//   PROGRAM [--first SEED] [--seeds N]
// The last line says how many were played and how many failed; a failing one, what was found and
// how to play it alone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace berth::proof {

// What is wrong with a seed, one line each; nothing when it holds.
using Findings = std::function<std::vector<std::string>(std::uint64_t seed)>;

// Whether there were no findings.
bool holds_for_seeds(int argc, char** argv, const Findings& findings);

}  // namespace berth::proof
