// SPDX-License-Identifier: Apache-2.0
//
// Where do a job's tasks stand together, and how are a node's GPUs linked, by a document? Jobs are
// read alike in job and state files: `topology: rack` requires a level,
// `topology: {required: block, preferred: rack}` says both. `groups: 4x8@rack` or a list of
// `{name: decode, tasks: 8..16, level: rack}` are the parts of a gang.
#pragma once

#include "codec/text/field_reader.h"
#include "model/job/job.h"

namespace berth::codec {

void read_topology(Problems& problems, FieldReader& fields, model::JobSpec& spec);

// The job's groups, and with them its numbers of tasks, unless the document `says_tasks` in other
// words: then both must agree.
void read_groups(Problems& problems, FieldReader& fields, model::JobSpec& spec, bool says_tasks);

// `tasks: 4`, `tasks: 4..16` or `tasks: {min: 4, max: 16}`.
struct TaskRange {
    int min = 1;
    int max = 1;
};
TaskRange read_task_range(Problems& problems, FieldReader& fields, std::string_view name);

// `gpu_links: {numa: [0, 0, 1, 1], islands: ..., nics: ..., matrix: ["X NV4 SYS SYS", ...]}`
model::GpuLinks read_gpu_links(Problems& problems, FieldReader& fields, int gpus);

}  // namespace berth::codec
