// SPDX-License-Identifier: Apache-2.0
//
// A job's GPUs do nothing: what is written down, and said to its user? When and what follows says
// lifecycle/idle/idle_rule.h.
#pragma once

#include <optional>
#include <string>

#include "control/transaction.h"
#include "model/policy/policy.h"

namespace berth::control {

// Of a job's attempt: notes and says what there is to be. What is to be done to it now, if
// anything.
std::optional<model::IdleAct> take_use(Transaction& transaction, const model::Policy& policy,
                                       const model::JobRecord& job, const UseSeen& seen);

// "its GPUs did nothing for 42m", of a job that was warned.
std::string idle_text(const Transaction& transaction, const model::JobRecord& job);

}  // namespace berth::control
