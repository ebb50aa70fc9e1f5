// SPDX-License-Identifier: Apache-2.0
//
// Which levels does a document ask a job's tasks to share? `topology: rack` requires one,
// `topology: {required: block, preferred: rack}` says both. Read alike in job and state files.
#pragma once

#include "codec/field_reader.h"
#include "model/job.h"

namespace berth::codec {

model::TopologyRequest read_topology(Problems& problems, FieldReader& fields);

}  // namespace berth::codec
