// SPDX-License-Identifier: Apache-2.0
#include "api/answers/changes.h"

namespace berth::api {

void change_labels(codec::FieldReader& fields, std::string_view name, model::Labels& labels) {
    const codec::Value* map = fields.find(name);
    if (map == nullptr) return;
    if (map->kind != codec::Value::Kind::Map) return fields.refuse(name, "a map of texts");
    for (const auto& [key, value] : map->members) {
        if (value.kind == codec::Value::Kind::Null) {
            labels.erase(key);
        } else if (!value.is_scalar() || !codec::is_name(key) || !codec::is_name(value.text)) {
            fields.refuse(name, "texts of 1 to 200 bytes, or null to take one away");
        } else {
            labels[key] = value.text;
        }
    }
}

}  // namespace berth::api
