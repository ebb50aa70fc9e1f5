// SPDX-License-Identifier: Apache-2.0
//
// Which projects are there, what do they hold, and changing one.
#include "api/answers/changes.h"
#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/api/server_view.h"
#include "codec/text/field_reader.h"
#include "codec/text/json.h"
#include "model/limits.h"
#include "scheduling/shares/fair_share.h"
#include "scheduling/shares/overcommitment.h"

namespace berth::api {
namespace {

std::vector<codec::ProjectView> view_projects(Site& site) {
    const cluster::Cluster& cluster = site.controller.state().cluster;
    std::vector<codec::ProjectView> views;
    for (std::size_t i = 1; i < cluster.projects().size(); ++i) {
        const base::ProjectId id{static_cast<base::ProjectId::Rep>(i)};
        views.push_back({cluster.projects()[i].project, {}, cluster::order_accuracy(cluster, id)});
    }
    for (std::size_t p = 0; p < cluster.pools().size(); ++p) {
        const base::PoolId pool{static_cast<base::PoolId::Rep>(p)};
        if (cluster.pool(pool).name.empty()) continue;  // removed
        const auto shares = scheduling::fair_shares(cluster, pool, site.controller.policy(),
                                                    site.controller.state().time);
        for (std::size_t i = 1; i < cluster.projects().size(); ++i) {
            const cluster::Claim& claim =
                cluster.claim(pool, {static_cast<base::ProjectId::Rep>(i)});
            views[i - 1].use.push_back({cluster.pool(pool).name,
                                        claim.quota,
                                        claim.limit,
                                        shares.fair[i],
                                        claim.usage.allocated,
                                        claim.usage.not_preemptible,
                                        claim.usage.pending,
                                        {claim.usage.host.cpu},
                                        {claim.usage.host.mebibytes << 20}});
        }
    }
    std::erase_if(views,
                  [](const codec::ProjectView& view) { return view.name.empty(); });  // removed
    return views;
}

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
    rights.priority = static_cast<int>(fields.whole("priority", rights.priority));
    rights.kind = fields.choice("kind", rights.kind);
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
    fields.finish();
    if (problems.any()) return problems.first();
    return project;
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

void get_projects(Site& site, Call call) {
    call.respond(json_response(codec::project_list_json({view_projects(site), {}})));
}

void put_project(Site& site, Call call) {
    const std::string& name = call.words.front();
    if (!codec::is_name(name) || name.find('/') != std::string::npos) {
        return call.respond(problem(400, "a project's name has 1 to 200 bytes and no slash"));
    }
    const cluster::Cluster& cluster = site.controller.state().cluster;
    const auto known = cluster.find_project(name);
    model::Project project;
    if (known.is_valid()) project = cluster.projects()[known.index()].project;
    project.name = name;
    auto next = changed(std::move(project), call.request.body);
    if (!next) return call.respond(problem(next.error()));
    site.controller.set_project(
        std::move(*next), call.request.user,
        [&site, name, respond = call.respond,
         is_new = !known.is_valid()](const base::Status& status) {
            if (!status) return respond(refused(status.error()));
            respond(json_response(codec::notes_json({notes_on_project(site, name)}),
                                  is_new ? 201 : 200));
        });
}

void delete_project(Site& site, Call call) {
    const std::string& name = call.words.front();
    if (name == site.default_project) {
        return call.respond(
            problem(409, "project \"" + name + "\" takes the jobs that name none and stays"));
    }
    site.controller.remove_project(
        name, call.request.user, [name, respond = call.respond](const base::Status& status) {
            if (!status) return respond(refused(status.error(), "berth ls -p " + name));
            respond(json_response("{}"));
        });
}

}  // namespace berth::api
