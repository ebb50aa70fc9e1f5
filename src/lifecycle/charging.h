// SPDX-License-Identifier: Apache-2.0
//
// What does an event change in where the GPU time goes? Reads the state and tells the ledger
// (ledger/ledger.h), which adds up. Here alone is said which of its uses a GPU is in.
// Cost of an event about a job: O(its nodes + places of its pools).
#pragma once

#include "lifecycle/apply.h"

namespace berth::lifecycle {

// What the task's GPUs are used for now.
model::GpuUse use_of(const model::JobRecord& record, const model::TaskPlacement& task);
// What GPUs of the pool are that no job has and none is promised: Free, BlockedByRoom or
// BlockedByRules.
model::GpuUse use_of_free(const State& state, base::PoolId pool);

// What is to be known of an event before it is folded: the shape of the job that it is about, which
// may end with it.
base::ShapeId shape_before(const State& state, const model::EventBody& event);
// After it is folded; `ended` is the job that ended with it.
void charge(State& state, const model::Event& event, base::ShapeId before, model::JobRecord* ended);

// Begins a ledger at the state's time, as all is now and with what `book` remembers.
void open_ledger(State& state, const model::LedgerBook& book = {});

}  // namespace berth::lifecycle
