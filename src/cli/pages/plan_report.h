// SPDX-License-Identifier: Apache-2.0
//
// How is a decision shown? The tables of `berth plan`, and the same as JSON.
#pragma once

#include <span>
#include <string>

#include "cli/terminal/style.h"
#include "lifecycle/apply.h"
#include "model/answer/verdict.h"
#include "model/plan.h"

namespace berth::cli {

std::string plan_report(const lifecycle::State& state, const model::Plan& plan,
                        std::span<const model::Verdict> verdicts, const Style& style);

// The same as the API's document of kind Plan.
std::string plan_document(const lifecycle::State& state, const model::Plan& plan,
                          std::span<const model::Verdict> verdicts);

}  // namespace berth::cli
