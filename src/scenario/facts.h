// SPDX-License-Identifier: Apache-2.0
//
// Does a verdict say what a scenario expects, whatever its words? An expected line may name the
// reason and the numbers that matter, and leave the sentence free:
//   > wait joe/j1 QuotaFair used=1 bound=1
// The keys are the fields of model::Verdict.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lifecycle/apply.h"
#include "model/answer/verdict.h"

namespace berth::scenario {

// The lines that a command printed; those on jobs for which facts alone are expected in that form,
// with the same keys and what the verdict says.
std::vector<std::string> in_form_of(std::span<const std::string> expected,
                                    std::vector<std::string> printed,
                                    std::span<const model::Verdict> verdicts,
                                    const lifecycle::State& state);

}  // namespace berth::scenario
