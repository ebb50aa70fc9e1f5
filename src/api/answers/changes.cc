// SPDX-License-Identifier: Apache-2.0
#include "api/answers/changes.h"

#include "codec/text/json_writer.h"

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

std::string notes_json(std::span<const std::string> notes) {
    std::string body;
    codec::JsonWriter json(body);
    json.begin_object();
    json.key("warnings").begin_array();
    for (const std::string& note : notes) json.string(note);
    json.end_array();
    json.end_object();
    return body;
}

}  // namespace berth::api
