// SPDX-License-Identifier: Apache-2.0
#include "kube/install/definitions.h"

#include <array>

#include "kube/install/objects.h"
#include "kube/objects/declared.h"
#include "kube/objects/spec_fields.h"
#include "model/node/node.h"

namespace berth::kube::install {
namespace {

using codec::JsonWriter;

struct Column {
    std::string_view name;
    std::string_view type;
    std::string_view path;
    bool is_wide = false;  // only with -o wide
};

constexpr std::string_view kAccepted = ".status.conditions[?(@.type==\"Accepted\")].status";

constexpr Column kProjectColumns[] = {
    {"Parent", "string", ".spec.parent"},      {"Quota", "number", ".spec.quota"},
    {"Used", "number", ".status.used"},        {"Over", "number", ".status.over"},
    {"Waiting", "integer", ".status.waiting"}, {"Fair-Share", "number", ".status.fairShare", true},
    {"Limit", "number", ".spec.limit", true},  {"Weight", "number", ".spec.weight", true},
    {"Kind", "string", ".spec.kind", true},    {"Namespaces", "string", ".spec.namespaces", true},
    {"Accepted", "string", kAccepted, true},
};
constexpr Column kPoolColumns[] = {
    {"Nodes", "integer", ".status.nodes"},
    {"GPUs", "integer", ".status.gpus"},
    {"Idle", "number", ".status.idle"},
    {"Spares", "string", ".spec.spares"},
    {"Labels", "string", ".spec.nodeSelector", true},
    {"Accepted", "string", kAccepted, true},
};
constexpr Column kPolicyColumns[] = {
    {"Profile", "string", ".spec.profile"},
    {"Accepted", "string", kAccepted},
};

constexpr std::array kKinds{DeclaredNames{DeclaredKind::Project, "Project", "project", "projects"},
                            DeclaredNames{DeclaredKind::Pool, "Pool", "pool", "pools"},
                            DeclaredNames{DeclaredKind::Policy, "Policy", "policy", "policies"}};

std::span<const Column> columns_of(DeclaredKind kind) {
    switch (kind) {
        case DeclaredKind::Project: return kProjectColumns;
        case DeclaredKind::Pool: return kPoolColumns;
        case DeclaredKind::Policy: break;
    }
    return kPolicyColumns;
}

std::string_view meaning_of(DeclaredKind kind) {
    switch (kind) {
        case DeclaredKind::Project:
            return "Who is entitled to how many GPUs: a project, or a department with projects "
                   "below it.";
        case DeclaredKind::Pool: return "Nodes among which quotas are counted together.";
        case DeclaredKind::Policy: break;
    }
    return "How Berth decides on this cluster. There is one, named default.";
}

void field(JsonWriter& json, std::string_view name, std::string_view value) {
    json.key(name);
    json.string(value);
}

void write_columns(JsonWriter& json, DeclaredKind kind) {
    json.key("additionalPrinterColumns");
    json.begin_array();
    const auto write = [&](const Column& column) {
        json.begin_object();
        field(json, "name", column.name);
        field(json, "type", column.type);
        field(json, "jsonPath", column.path);
        if (column.is_wide) {
            json.key("priority");
            json.number(1);
        }
        json.end_object();
    };
    for (const Column& column : columns_of(kind)) write(column);
    write({"Age", "date", ".metadata.creationTimestamp"});
    json.end_array();
}

// What is said of name and spec together.
void write_root_rules(JsonWriter& json, DeclaredKind kind) {
    const std::string name = "self.metadata.name";
    const std::string most = std::to_string(objects::kDeclaredNameMax);
    const CelRule short_name{
        "size(" + name + ") <= " + most,
        "metadata.name: wanted at most " + most + " characters, as many as the value of a label"};
    const std::string is_default = name + " == '" + std::string(model::kDefaultPool) + "'";
    const std::string has_selector =
        "(has(self.spec) && has(self.spec.nodeSelector) && size(self.spec.nodeSelector) > 0)";
    switch (kind) {
        case DeclaredKind::Project:
            return write_rules(
                json, {short_name,
                       {"!has(self.spec) || !has(self.spec.parent) || self.spec.parent != " + name,
                        "spec.parent: a project cannot be below itself"}});
        case DeclaredKind::Pool:
            return write_rules(
                json,
                {short_name,
                 {is_default + " || " + has_selector,
                  "spec.nodeSelector: wanted the labels of its nodes; without any it would take "
                  "every node"},
                 {"!(" + is_default + ") || !" + has_selector,
                  "spec.nodeSelector: the pool default takes the nodes that match no other pool; "
                  "it has no labels"},
                 {"!has(self.spec) || !has(self.spec.spares) || self.spec.spares != " + name,
                  "spec.spares: a pool cannot be its own"}});
        case DeclaredKind::Policy: break;
    }
    write_rules(json, {{name + " == '" + std::string(objects::kPolicyName) + "'",
                        "metadata.name: wanted default; there is one Policy"}});
}

void write_schema(JsonWriter& json, DeclaredKind kind) {
    json.begin_object();
    field(json, "type", "object");
    field(json, "description", meaning_of(kind));
    json.key("properties");
    json.begin_object();
    for (const std::string_view name : {"apiVersion", "kind"}) {
        json.key(name);
        json.begin_object();
        field(json, "type", "string");
        json.end_object();
    }
    json.key("metadata");
    json.begin_object();
    field(json, "type", "object");
    json.end_object();
    json.key("spec");
    write_spec_schema(json, kind);
    json.key("status");
    write_status_schema(json, kind);
    json.end_object();
    write_root_rules(json, kind);
    json.end_object();
}

void write_version(JsonWriter& json, DeclaredKind kind) {
    json.begin_object();
    field(json, "name", kVersion);
    json.key("served");
    json.boolean(true);
    json.key("storage");
    json.boolean(true);
    json.key("subresources");
    json.begin_object();
    json.key("status");
    json.begin_object();
    json.end_object();
    json.end_object();
    write_columns(json, kind);
    json.key("schema");
    json.begin_object();
    json.key("openAPIV3Schema");
    write_schema(json, kind);
    json.end_object();
    json.end_object();
}

void write_names(JsonWriter& json, const DeclaredNames& names) {
    json.begin_object();
    field(json, "kind", names.name);
    field(json, "listKind", std::string(names.name) + "List");
    field(json, "plural", names.plural);
    field(json, "singular", names.singular);
    json.key("categories");
    json.begin_array();
    json.string("berth");
    json.end_array();
    json.end_object();
}

}  // namespace

std::span<const DeclaredNames> declared_kinds() { return kKinds; }

std::string definition(const DeclaredNames& names) {
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    field(json, "apiVersion", "apiextensions.k8s.io/v1");
    field(json, "kind", "CustomResourceDefinition");
    json.key("metadata");
    json.begin_object();
    field(json, "name", std::string(names.plural) + "." + std::string(kGroup));
    json.key("labels");
    json.begin_object();
    field(json, kPartOfLabel, kPartOf);
    json.end_object();
    json.end_object();
    json.key("spec");
    json.begin_object();
    field(json, "group", kGroup);
    field(json, "scope", "Cluster");
    json.key("names");
    write_names(json, names);
    json.key("versions");
    json.begin_array();
    write_version(json, names.kind);
    json.end_array();
    json.end_object();
    json.end_object();
    return text;
}

}  // namespace berth::kube::install
