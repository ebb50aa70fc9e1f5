// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/declared.h"

#include <span>
#include <utility>

#include "kube/objects/spec_fields.h"
#include "kube/objects/walk.h"
#include "model/limits.h"

namespace berth::kube::objects {
namespace {

using base::Status;
using codec::JsonReader;

const std::string kSpec = "spec";

std::int64_t read_generation(JsonReader reader) {
    std::int64_t generation = 0;
    each_field(reader, [&](std::string_view key) {
        if (key != "generation") return false;
        generation = reader.read_int();
        return true;
    });
    return reader.is_failed() ? 0 : generation;
}

// Of a field that the table does not know nothing is said: a newer schema may have it.
template <typename Spec>
bool read_field(std::span<const SpecField<Spec>> fields, const std::string& path,
                std::string_view key, JsonReader& reader, Spec& spec, Status& first) {
    for (const SpecField<Spec>& field : fields) {
        if (field.name != key) continue;
        const Status read = field.read(reader, spec);
        if (!read && first) {
            first =
                base::invalid(path + "." + std::string(field.name) + ": " + read.error().message);
        }
        return true;
    }
    return false;
}

template <typename Spec>
Status read_fields(std::span<const SpecField<Spec>> fields, const std::string& path,
                   JsonReader& reader, Spec& spec) {
    Status first;
    if (reader.peek() != JsonReader::Type::Object) {
        return base::invalid(path + ": wanted a map of fields");
    }
    each_field(reader, [&](std::string_view key) {
        return read_field(fields, path, key, reader, spec, first);
    });
    return first;
}

Status read_spec(JsonReader& reader, DeclaredProject& declared) {
    ProjectSpec spec;
    Status first;
    each_field(reader, [&](std::string_view key) {
        return read_field(rights_fields(), kSpec, key, reader, spec.project.rights, first) ||
               read_field(project_fields(), kSpec, key, reader, spec, first);
    });
    BERTH_TRY_VOID(first);
    for (auto& [pool, at] : spec.pool_rights) {
        model::Entitlement rights = model::rights_in(spec.project, pool);
        BERTH_TRY_VOID(read_fields(rights_fields(), kSpec + ".pools." + pool, at, rights));
        spec.project.pools.emplace(pool, rights);
    }
    spec.project.name = declared.project.name;
    spec.project.order = declared.project.order;
    BERTH_TRY_VOID(model::check_limits(spec.project));
    declared.project = std::move(spec.project);
    declared.namespaces = std::move(spec.namespaces);
    return {};
}

Status read_spec(JsonReader& reader, DeclaredPool& declared) {
    model::Pool pool;
    BERTH_TRY_VOID(read_fields(pool_fields(), kSpec, reader, pool));
    pool.name = declared.pool.name;
    BERTH_TRY_VOID(model::check_limits(pool));
    if (pool.name == model::kDefaultPool && !pool.labels.empty()) {
        return base::invalid(
            "spec.nodeSelector: the default pool takes the nodes that match no other pool; it has "
            "no labels");
    }
    declared.pool = std::move(pool);
    return {};
}

Status read_spec(JsonReader& reader, DeclaredPolicy& declared) {
    PolicySpec spec;
    BERTH_TRY_VOID(read_fields(policy_fields(), kSpec, reader, spec));
    BERTH_TRY_VOID(model::check_limits(spec.levels));
    BERTH_TRY(profile, model::policy_named(spec.profile));
    model::PolicyChanges settings = model::under_new_names(spec.settings);
    const auto policy = model::changed_policy(profile, settings);
    if (!policy) return base::invalid("spec.settings: " + policy.error().message);
    for (const auto& [name, text] : spec.settings) {
        const auto gone = model::gone_setting(name);
        if (!gone) continue;
        declared.note += (declared.note.empty() ? "spec.settings: " : "; ") + *gone;
    }
    declared.profile = std::move(spec.profile);
    declared.levels = std::move(spec.levels);
    declared.settings = std::move(settings);
    return {};
}

// What it is without a spec, or with one that cannot be read.
void start(DeclaredProject& declared) {
    declared.project.name = declared.meta.name;
    declared.project.order = declared.meta.created ? base::to_ms(*declared.meta.created) : 0;
}
void start(DeclaredPool& declared) { declared.pool.name = declared.meta.name; }
void start(DeclaredPolicy& declared) {
    const PolicySpec nothing;
    declared.profile = nothing.profile;
    declared.levels = nothing.levels;
}

template <typename Object>
Object read_declared(JsonReader& reader, MetaPools& pools) {
    Object object;
    JsonReader spec("");
    bool has_spec = false;
    each_field(reader, [&](std::string_view key) {
        if (key == "metadata") {
            object.generation = read_generation(reader);
            object.meta = read_meta(reader, pools);
            return true;
        }
        if (key != "spec") return false;
        has_spec = true;
        spec = reader;
        return false;
    });
    if (!object.meta.uid) reader.fail("wanted an object with metadata");
    if (reader.is_failed()) return object;
    start(object);
    if (!has_spec) return object;
    Status read = read_spec(spec, object);
    if (spec.is_failed()) read = base::invalid("spec: " + spec.error());
    if (!read) object.problem = read.error().message;
    return object;
}

}  // namespace

DeclaredProject read_project(JsonReader& reader, MetaPools& pools) {
    return read_declared<DeclaredProject>(reader, pools);
}
DeclaredPool read_pool(JsonReader& reader, MetaPools& pools) {
    return read_declared<DeclaredPool>(reader, pools);
}
DeclaredPolicy read_policy(JsonReader& reader, MetaPools& pools) {
    return read_declared<DeclaredPolicy>(reader, pools);
}

}  // namespace berth::kube::objects
