// SPDX-License-Identifier: Apache-2.0
//
// What does the API server check of a Project, a Pool and the Policy? The OpenAPI schema of each
// spec, made from the tables that their readers go by (kube/objects/spec_fields.h,
// model/policy/policy_settings.h).
//
// What a schema cannot say in words people understand, a CEL rule says with a message; each text,
// list and map has a maximum, by which the server bounds what its rules may cost.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "codec/text/json_writer.h"

namespace berth::kube::install {

enum class DeclaredKind { Project, Pool, Policy };

// {"type": "object", "properties": {...}} of what people say, and of what Berth says of it.
void write_spec_schema(codec::JsonWriter& json, DeclaredKind kind);
void write_status_schema(codec::JsonWriter& json, DeclaredKind kind);

struct CelRule {
    std::string rule;
    std::string message;
};
void write_rules(codec::JsonWriter& json, std::initializer_list<CelRule> rules);

}  // namespace berth::kube::install
