// SPDX-License-Identifier: Apache-2.0
//
// As which part of its GPUs does a job count, and when does that become another?
//
// One that may share its GPU counts as what jobs like it were measured to take, itself among them,
// if two of that kind may be packed (model/job/packing.h); else as the whole GPU that it asks for.
// A running job that has its GPU alone counts as less at once, where it stands; one that is packed
// stays what it is until it has left its GPU.
//
// Any other counts as what it asks. While it waits that may change to anything. While it runs it
// keeps as many GPUs, those that it has, and gets another part of each at once, as far as that is
// idle; or it leaves first, and then waits for it (docs/adr/0049).
#pragma once

#include "lifecycle/apply.h"

namespace berth::lifecycle {

// What changes, if anything: null, or the part it counts as from now on (none: the whole GPU).
std::optional<std::optional<model::GpuPart>> change_of_part(const State& state,
                                                            const model::JobRecord& record);

// It counts as that from now on.
void pack(State& state, model::JobRecord& record, const std::optional<model::GpuPart>& part);

// Whether it may ask for that from now on, beyond what any job may. Errors: Conflict, with what
// would fit.
base::Status check_request_change(const State& state, const model::JobRecord& job,
                                  const model::JobRequestSet& set);

// It counts as what it asks, where it stands too.
void count_as_asked(State& state, model::JobRecord& record);

// What it would be if it asked for that and had it where it stands.
model::JobRecord as_if_asked(const State& state, model::JobRecord record,
                             const model::TaskRequest& request);

}  // namespace berth::lifecycle
