// SPDX-License-Identifier: Apache-2.0
//
// As what does a job that may share its GPU count now? As what jobs like it were measured to take,
// itself among them, if two of that kind may be packed (model/job/packing.h); else as the whole GPU
// that it asks for. A running job that has its GPU alone counts as less at once, where it stands;
// one that is packed stays what it is until it has left its GPU.
#pragma once

#include "lifecycle/apply.h"

namespace berth::lifecycle {

// What changes, if anything: null, or the part it counts as from now on (none: the whole GPU).
std::optional<std::optional<model::GpuPart>> change_of_part(const State& state,
                                                            const model::JobRecord& record);

// It counts as that from now on.
void pack(State& state, model::JobRecord& record, const std::optional<model::GpuPart>& part);

}  // namespace berth::lifecycle
