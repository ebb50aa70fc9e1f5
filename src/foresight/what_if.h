// SPDX-License-Identifier: Apache-2.0
//
// What would be decided if this happened? Supposes it on a copy of the state, decides there and on
// the state as it stands, and says whose fate differs. Changes nothing.
//
// Cost: three copies of the state, two decisions and their events, and explanations of at most
// kReasonsCompared waiting jobs (fewer on a large cluster) whose fate differs, and as many whose
// fate does not.
#pragma once

#include <span>

#include "lifecycle/apply.h"
#include "model/answer/what_if.h"
#include "model/policy/policy.h"

namespace berth::foresight {

inline constexpr int kReasonsCompared = 200;
inline constexpr std::size_t kSupposedMax = 1'000;  // changes, one after the other
inline constexpr std::int64_t kNodesSupposedMax = 10'000;

struct Comparison {
    model::WhatIf what_if;
    lifecycle::State then;  // supposed, nothing decided yet: knows the names of supposed jobs
};

// Makes the state as supposed; nothing is decided. Errors: as of the event that is supposed:
// Invalid, NotFound, Exists, Conflict; what came before it has been supposed.
base::Status suppose(lifecycle::State& state, std::span<const model::Hypothesis> hypotheses,
                     model::TimePoint now);
// Gives the project the right that one of Quota, Limit and Weight supposes, in a pool that exists.
void change_right(model::Project& project, const model::Hypothesis& hypothesis);

// Errors: as of suppose().
base::Result<Comparison> what_if(const lifecycle::State& state,
                                 std::span<const model::Hypothesis> hypotheses,
                                 const model::Policy& policy, model::TimePoint now);

}  // namespace berth::foresight
