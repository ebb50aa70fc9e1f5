// SPDX-License-Identifier: Apache-2.0
#include "codec/topology.h"

#include "codec/json.h"

namespace berth::codec {

model::TopologyRequest read_topology(Problems& problems, FieldReader& fields) {
    model::TopologyRequest topology;
    const Value* value = fields.find("topology");
    if (value == nullptr) return topology;
    if (value->is_scalar()) {
        topology.required = fields.text("topology");
        return topology;
    }
    FieldReader levels(problems, *value, fields.path_of("topology"));
    topology.required = levels.text("required");
    topology.preferred = levels.text("preferred");
    levels.finish();
    return topology;
}

}  // namespace berth::codec
