// SPDX-License-Identifier: Apache-2.0
//
// On which nodes may a job run, which taints keep jobs off a node, and what do others use of it, by
// a document? Read alike in
// job and state files: `node_labels: {disk: ssd}`, `node_filter: "zone=a|b,!spot"`,
// `tolerations: [dedicated]` and `taints: ["dedicated=infra:NoSchedule"]` (model/node_filter.h),
// `others: {gpus: 2, cpu: 4, memory: 16G}`.
#pragma once

#include <vector>

#include "codec/field_reader.h"
#include "model/job.h"

namespace berth::codec {

void read_node_wishes(FieldReader& fields, model::JobSpec& spec);
std::vector<model::Taint> read_taints(FieldReader& fields);
model::OthersUse read_others(Problems& problems, FieldReader& fields);

}  // namespace berth::codec
