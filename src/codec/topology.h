// SPDX-License-Identifier: Apache-2.0
//
// Where do a job's tasks stand together, and how are a node's GPUs linked, by a document? Jobs are
// read alike in job and state files: `topology: rack` requires a level,
// `topology: {required: block, preferred: rack}` says both; `placement` and `tensor_skew` say
// whether the job is consolidated.
#pragma once

#include "codec/field_reader.h"
#include "model/job.h"

namespace berth::codec {

void read_topology(Problems& problems, FieldReader& fields, model::JobSpec& spec);

// `gpu_links: {numa: [0, 0, 1, 1], islands: ..., nics: ..., matrix: ["X NV4 SYS SYS", ...]}`
model::GpuLinks read_gpu_links(Problems& problems, FieldReader& fields, int gpus);

}  // namespace berth::codec
