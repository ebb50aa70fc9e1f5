// SPDX-License-Identifier: Apache-2.0
#include "codec/node_wishes.h"

namespace berth::codec {
namespace {

template <typename T>
std::vector<T> read_each(FieldReader& fields, std::string_view name,
                         base::Result<T> (*parse)(std::string_view)) {
    std::vector<T> all;
    for (const std::string& text : fields.texts(name)) {
        auto one = parse(text);
        if (!one) {
            fields.report(name, one.error().message);
            break;
        }
        all.push_back(std::move(*one));
    }
    return all;
}

}  // namespace

void read_node_wishes(FieldReader& fields, model::JobSpec& spec) {
    spec.node_labels = fields.labels("node_labels");
    auto filter = model::parse_node_filter(fields.text("node_filter"));
    if (!filter) return fields.report("node_filter", filter.error().message);
    spec.node_filter = std::move(*filter);
    spec.tolerations = read_each(fields, "tolerations", model::parse_toleration);
}

std::vector<model::Taint> read_taints(FieldReader& fields) {
    return read_each(fields, "taints", model::parse_taint);
}

}  // namespace berth::codec
