// SPDX-License-Identifier: Apache-2.0
//
// What do those fields of a job say that have a name of their own in a job file or a state file?
// model/fields/job_fields.h lists them, with names and defaults. What a file says of several at
// once is read by read_gpus(), node_wishes.h, topology.h and the reader of that file.
#pragma once

#include "codec/text/field_reader.h"
#include "codec/words/gpu_request.h"
#include "model/fields/job_fields.h"

namespace berth::codec {

void read_job_fields(FieldReader& fields, model::JobDoors door, model::JobSpec& spec);

// `gpus: 2`, `gpus: H100:2` or `gpus: 4..16@rack`; none: it was refused.
std::optional<GpuRequest> read_gpus(FieldReader& fields, model::JobSpec& spec);

// `cap: 0.8`; 0 where there is none.
model::MilliGpu read_cap(FieldReader& fields);

}  // namespace berth::codec
