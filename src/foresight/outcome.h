// SPDX-License-Identifier: Apache-2.0
//
// What would each project have once a plan was carried out? Plays its events on a copy of the
// state, and those that follow by themselves: jobs that are asked to leave have left.
//
// Trusts: the plan was made on this state (scheduling/decide.h). Guarantees: what a project uses
// then is what it has or is promised when the server has done the same.
#pragma once

#include "lifecycle/apply.h"
#include "model/answer/what_if.h"

namespace berth::foresight {

void carry_out(lifecycle::State& copy, const model::Plan& plan, const model::Policy& policy,
               model::TimePoint now);

// The projects and departments that have something else in one of them, pool by pool.
std::vector<model::ShareChange> share_changes(const lifecycle::State& now_then,
                                              const lifecycle::State& supposed_then,
                                              const model::Policy& policy, model::TimePoint now);

}  // namespace berth::foresight
