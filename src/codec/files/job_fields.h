// SPDX-License-Identifier: Apache-2.0
//
// What do those fields of a job say that have a name of their own in a job file or a state file?
// model/fields/job_fields.h lists them, with names and defaults. What a file says of several at
// once is read by node_wishes.h, topology.h and the reader of that file.
#pragma once

#include "codec/text/field_reader.h"
#include "model/fields/job_fields.h"

namespace berth::codec {

void read_job_fields(FieldReader& fields, model::JobDoors door, model::JobSpec& spec);

}  // namespace berth::codec
