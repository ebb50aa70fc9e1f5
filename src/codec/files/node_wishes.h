// SPDX-License-Identifier: Apache-2.0
//
// On which nodes may a job or its companions run, which taints keep jobs off a node, which other
// resources are there or asked for, and what do others use of a node, by a document? Read alike in
// job and state files: `node_labels: {disk: ssd}`, `node_filter: "zone=a|b,!spot"`,
// `tolerations: [dedicated]` and `taints: ["dedicated=infra:NoSchedule"]`
// (model/node/node_filter.h), `resources: {rdma/hca: 2, ephemeral-storage: 100G}` and `others:
// {gpus: 2, cpu: 4, memory: 16G}`.
#pragma once

#include <vector>

#include "codec/text/field_reader.h"
#include "model/job/job.h"

namespace berth::codec {

model::NodeFilter read_node_filter(FieldReader& fields);
std::vector<model::Toleration> read_tolerations(FieldReader& fields);
// CPU, memory and resources of a task, and the number of cores as the document calls it.
void read_host(Problems& problems, FieldReader& fields, std::string_view cores,
               model::TaskRequest& request);
// `companions: [{name: driver, count: 1, gpus: T4:1, memory: 16G, node_labels: {...}}]`.
void read_companions(Problems& problems, FieldReader& fields, std::string_view cores,
                     model::JobSpec& spec);
std::vector<model::Taint> read_taints(FieldReader& fields);
model::Resources read_resources(Problems& problems, FieldReader& fields);
model::OthersUse read_others(Problems& problems, FieldReader& fields);

}  // namespace berth::codec
