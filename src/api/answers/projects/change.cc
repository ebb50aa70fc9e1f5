// SPDX-License-Identifier: Apache-2.0
//
// Making, changing and removing a project.
#include <memory>
#include <optional>

#include "api/answers/changes.h"
#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/condition.h"
#include "api/http/problem.h"
#include "base/quantity.h"
#include "codec/api/server_view.h"
#include "codec/text/field_reader.h"
#include "codec/text/json.h"
#include "model/limits.h"
#include "scheduling/shares/overcommitment.h"

namespace berth::api {
namespace {

bool is_null(const codec::Value& map, std::string_view name) {
    const codec::Value* value = map.find(name);
    return value != nullptr && value->kind == codec::Value::Kind::Null;
}

// The fields that are given change, the others stay; null lifts a quota or limit.
void change_rights(codec::FieldReader& fields, const codec::Value& map,
                   model::Entitlement& rights) {
    const std::string_view wanted = "a number of GPUs such as 4 or 0.5";
    if (const auto quota = fields.decimal("quota", 3, wanted))
        rights.quota = model::MilliGpu{*quota};
    if (is_null(map, "quota")) rights.quota.reset();
    if (const auto limit = fields.decimal("limit", 3, wanted))
        rights.limit = model::MilliGpu{*limit};
    if (is_null(map, "limit")) rights.limit = model::kUnlimited;
    const auto change_cpu = [&](std::string_view field, std::optional<model::MilliCpu>& cpu) {
        if (const auto cores = fields.decimal(field, 3, "a number of cores such as 64"))
            cpu = model::MilliCpu{*cores};
        if (is_null(map, field)) cpu.reset();
    };
    change_cpu("cpu_quota", rights.cpu_quota);
    change_cpu("cpu_limit", rights.cpu_limit);
    const auto change_memory = [&](std::string_view field, std::optional<model::Bytes>& memory) {
        if (const auto bytes = fields.bytes(field)) memory = *bytes;
        if (is_null(map, field)) memory.reset();
    };
    change_memory("memory_quota", rights.memory_quota);
    change_memory("memory_limit", rights.memory_limit);
    if (const auto weight = fields.decimal("weight", 3, "a number such as 1 or 0.5")) {
        rights.weight = *weight;
    }
    const model::Entitlement initial;
    if (is_null(map, "weight")) rights.weight = initial.weight;
    rights.priority = static_cast<int>(fields.whole("priority", rights.priority));
    if (is_null(map, "priority")) rights.priority = initial.priority;
    rights.kind = fields.choice("kind", rights.kind);
    if (is_null(map, "kind")) rights.kind = initial.kind;
}

// Rights in named pools: what a new entry does not say is taken from those in the default pool, but
// for the quotas. null takes an entry away.
void change_pools(codec::FieldReader& fields, codec::Problems& problems, model::Project& project) {
    const codec::Value* pools = fields.find("pools");
    if (pools == nullptr) return;
    if (pools->kind != codec::Value::Kind::Map) return fields.refuse("pools", "a map from pools");
    for (const auto& [pool, map] : pools->members) {
        if (map.kind == codec::Value::Kind::Null) {
            project.pools.erase(pool);
            continue;
        }
        model::Entitlement& rights =
            project.pools.try_emplace(pool, model::without_guarantees(project.rights))
                .first->second;
        codec::FieldReader own(problems, map, fields.path_of("pools") + "." + pool);
        change_rights(own, map, rights);
        own.finish();
    }
}

base::Result<model::Project> changed(model::Project project, const std::string& body) {
    BERTH_TRY(tree, codec::parse_json(body, "body"));
    codec::Problems problems("body");
    codec::FieldReader fields(problems, tree, "");
    fields.text("name");
    project.parent = fields.text("parent", project.parent);
    change_rights(fields, tree, project.rights);
    change_pools(fields, problems, project);
    const auto change_time = [&](std::string_view field, std::optional<model::Duration>& time) {
        if (const auto said = fields.duration(field)) time = said;
        if (is_null(tree, field)) time.reset();
    };
    change_time("preemption_delay", project.preemption_delay);
    change_time("preempt_min_run", project.preempt_min_run);
    change_time("reclaim_min_run", project.reclaim_min_run);
    const auto order = fields.maybe_choice<model::JobOrder>("job_order");
    if (order || is_null(tree, "job_order")) project.job_order = order;
    const auto tail = fields.maybe_whole("job_tail", {0, model::kOrderTailMax});
    if (tail || is_null(tree, "job_tail")) project.job_tail = tail;
    change_time("idle_after", project.idle_after);
    const auto act = fields.maybe_choice<model::IdleAct>("idle_act");
    if (act || is_null(tree, "idle_act")) project.idle_act = act;
    project.strict_shares = fields.flag("strict_shares", project.strict_shares);
    fields.finish();
    if (problems.any()) return problems.first();
    return project;
}

// What is found in place of what was read.
std::string not_as_read(const model::Project& now, bool is_gone) {
    const std::string name = "project \"" + now.name + "\" ";
    if (is_gone) return name + "does not exist any more";
    const auto amount = [](model::MilliGpu gpus) {
        return gpus < model::kUnlimited ? base::format(gpus) : std::string("none");
    };
    return name + "has changed since it was read: its quota is now " +
           (now.rights.quota ? amount(*now.rights.quota) : "none") + ", its limit " +
           amount(now.rights.limit) + ", its weight " +
           base::format_thousandths(now.rights.weight) + "; read it again";
}

// What a change of this project's rights makes promise too much.
std::vector<std::string> notes_on_project(const Site& site, const std::string& project) {
    const cluster::Cluster& cluster = site.controller.state().cluster;
    const auto id = cluster.find_project(project);
    if (!id.is_valid()) return {};
    const std::string& parent = cluster.projects()[id.index()].project.parent;
    const std::string_view effect = site.controller.policy().scale_overcommitted
                                        ? "; each counts for its part"
                                        : "; this profile does not scale them down";
    std::vector<std::string> notes;
    for (const model::Overcommitment& found : scheduling::overcommitments(cluster)) {
        if (found.scope != parent && found.scope != project) continue;
        notes.push_back(scheduling::overcommitment_text(found) + std::string(effect));
    }
    return notes;
}

}  // namespace

void put_project(Site& site, Call call) {
    const std::string& name = call.words.front();
    if (!codec::is_name(name) || name.find('/') != std::string::npos) {
        return call.respond(problem(400, "a project's name has 1 to 200 bytes and no slash"));
    }
    // What is found out in the turn.
    struct Put {
        bool is_new = false;
        std::string tag;
        std::optional<Response> refusal;
    };
    const auto put = std::make_shared<Put>();
    const auto refuse = [put](Response refusal, base::Error error) {
        put->refusal = std::move(refusal);
        return tl::unexpected(std::move(error));
    };
    auto change = [put, refuse, body = call.request.body, expected = call.request.expected_etags](
                      model::Project now, bool is_new) -> base::Result<model::Project> {
        const std::string tag = is_new ? "" : tag_of(codec::project_json(now));
        if (!is_as_expected(expected, tag)) {
            base::Error found{base::ErrorCode::Conflict, not_as_read(now, is_new)};
            return refuse(problem(412, found.message, "berth project ls"), found);
        }
        auto next = changed(std::move(now), body);
        if (!next) return refuse(problem(next.error()), next.error());
        put->is_new = is_new;
        put->tag = tag_of(codec::project_json(*next));
        return next;
    };
    site.controller.change_project(
        name, std::move(change), call.request.user,
        [&site, name, put, respond = call.respond](const base::Status& status) {
            if (put->refusal) return respond(std::move(*put->refusal));
            if (!status) return respond(refused(status.error()));
            Response response = json_response(codec::notes_json({notes_on_project(site, name)}),
                                              put->is_new ? 201 : 200);
            response.headers.emplace_back("ETag", put->tag);
            respond(std::move(response));
        });
}

void delete_project(Site& site, Call call) {
    const std::string& name = call.words.front();
    if (name == site.default_project) {
        return call.respond(
            problem(409, "project \"" + name + "\" takes the jobs that name none and stays"));
    }
    site.controller.record(model::ProjectRemoved{name}, call.request.user,
                           [name, respond = call.respond](const base::Status& status) {
                               if (!status)
                                   return respond(refused(status.error(), "berth ls -p " + name));
                               respond(json_response("{}"));
                           });
}

}  // namespace berth::api
