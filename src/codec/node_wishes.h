// SPDX-License-Identifier: Apache-2.0
//
// On which nodes may a job run, and which taints keep jobs off a node, by a document? Read alike in
// job and state files: `node_labels: {disk: ssd}`, `node_filter: "zone=a|b,!spot"`,
// `tolerations: [dedicated]` and `taints: ["dedicated=infra:NoSchedule"]` (model/node_filter.h).
#pragma once

#include <vector>

#include "codec/field_reader.h"
#include "model/job.h"

namespace berth::codec {

void read_node_wishes(FieldReader& fields, model::JobSpec& spec);
std::vector<model::Taint> read_taints(FieldReader& fields);

}  // namespace berth::codec
