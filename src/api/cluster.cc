// SPDX-License-Identifier: Apache-2.0
//
// Which nodes and projects are there, what do they hold, and changing a project.
#include <algorithm>
#include <map>

#include "api/job_views.h"
#include "api/problem.h"
#include "api/routes.h"
#include "codec/field_reader.h"
#include "codec/json.h"
#include "codec/json_writer.h"
#include "control/launch_order.h"
#include "scheduling/fair_share.h"
#include "scheduling/overcommitment.h"

namespace berth::api {
namespace {

using GpuPlace = std::pair<std::string, int>;

std::map<GpuPlace, ports::GpuReading> readings(Site& site) {
    std::map<GpuPlace, ports::GpuReading> by_place;
    if (auto read = site.inventory.read()) {
        for (ports::GpuReading& reading : *read) {
            const GpuPlace place{reading.node, reading.index};
            by_place.insert_or_assign(place, std::move(reading));
        }
    }
    return by_place;
}

void add_reading(codec::GpuView& gpu, const ports::GpuReading& reading) {
    gpu.uuid = reading.uuid;
    gpu.healthy = reading.healthy;
    if (reading.utilization_percent >= 0) gpu.utilization_percent = reading.utilization_percent;
    if (reading.memory_used.value >= 0) gpu.memory_used = reading.memory_used;
    if (reading.power_watts >= 0) gpu.power_watts = reading.power_watts;
}

void add_uses(std::vector<codec::NodeView>& views, const std::vector<ports::ShareUse>& uses) {
    std::map<std::string_view, codec::NodeView*> by_name;
    if (!uses.empty())
        for (codec::NodeView& view : views) by_name[view.name] = &view;
    for (const ports::ShareUse& use : uses) {
        const auto node = by_name.find(use.node);
        if (node == by_name.end() || use.index >= node->second->gpus) continue;
        node->second->devices[static_cast<std::size_t>(use.index)].shares.push_back(
            {use.job, use.memory, use.memory_limit, use.compute});
    }
}

std::vector<codec::NodeView> view_nodes(Site& site) {
    const lifecycle::State& state = site.controller.state();
    const auto measured = readings(site);
    std::vector<codec::NodeView> views;
    for (std::size_t i = 0; i < state.cluster.nodes().size(); ++i) {
        const model::NodeId id{static_cast<model::NodeId::Rep>(i)};
        codec::NodeView view{state.cluster.description(id), {}, {}, {}, {}};
        view.shares_kept_by = site.shares_kept_by(view.name);
        view.pool = state.cluster.pool(state.cluster.nodes()[i].pool).name;
        const bool strays = state.cluster.membership().strays.contains(id);
        if (strays) view.joins = state.cluster.pool(state.cluster.belongs_to(id)).name;
        for (int index = 0; index < view.gpus; ++index) {
            codec::GpuView gpu;
            gpu.index = index;
            const auto reading = measured.find({view.name, index});
            if (reading != measured.end()) add_reading(gpu, reading->second);
            view.devices.push_back(std::move(gpu));
        }
        views.push_back(std::move(view));
    }
    for (const auto& [id, job] : state.jobs) {
        for (const model::TaskPlacement& task : job.tasks) {
            for (const int index : control::gpu_indices(task.gpu_mask)) {
                codec::GpuView& gpu =
                    views[task.node.index()].devices[static_cast<std::size_t>(index)];
                gpu.compute_held += task.share;
                gpu.memory_held += task.gpu_memory;
                if (gpu.jobs.empty() || gpu.jobs.back() != id) gpu.jobs.push_back(id);
            }
        }
    }
    add_uses(views, site.share_uses());
    for (codec::NodeView& view : views) {
        const model::Bytes all = model::memory_left_by_driver(view);
        for (codec::GpuView& gpu : view.devices) {
            gpu.used = std::max(gpu.compute_held, model::part_rounded_up(gpu.memory_held, all));
        }
    }
    return views;
}

std::vector<codec::ProjectView> view_projects(Site& site) {
    const cluster::Cluster& cluster = site.controller.state().cluster;
    std::vector<codec::ProjectView> views;
    for (std::size_t i = 1; i < cluster.projects().size(); ++i) {
        views.push_back({cluster.projects()[i].project, {}});
    }
    for (std::size_t p = 0; p < cluster.pools().size(); ++p) {
        const base::PoolId pool{static_cast<base::PoolId::Rep>(p)};
        const auto shares = scheduling::fair_shares(cluster, pool, site.controller.policy(),
                                                    site.controller.state().time);
        for (std::size_t i = 1; i < cluster.projects().size(); ++i) {
            const cluster::Claim& claim =
                cluster.claim(pool, {static_cast<base::ProjectId::Rep>(i)});
            views[i - 1].use.push_back({cluster.pool(pool).name, claim.quota, claim.limit,
                                        shares.fair[i], claim.usage.allocated,
                                        claim.usage.not_preemptible, claim.usage.pending});
        }
    }
    return views;
}

// The fields that are given change, the others stay; null lifts a quota or limit.
base::Result<model::Project> changed(model::Project project, const std::string& body) {
    BERTH_TRY(tree, codec::parse_json(body, "body"));
    codec::Problems problems("body");
    codec::FieldReader fields(problems, tree, "");
    model::Entitlement& rights = project.rights;
    const auto is_null = [&](std::string_view name) {
        const codec::Value* value = tree.find(name);
        return value != nullptr && value->kind == codec::Value::Kind::Null;
    };
    fields.text("name");
    project.parent = fields.text("parent", project.parent);
    const std::string_view wanted = "a number of GPUs such as 4 or 0.5";
    if (const auto quota = fields.decimal("quota", 3, wanted))
        rights.quota = model::MilliGpu{*quota};
    if (is_null("quota")) rights.quota.reset();
    if (const auto limit = fields.decimal("limit", 3, wanted))
        rights.limit = model::MilliGpu{*limit};
    if (is_null("limit")) rights.limit = model::kUnlimited;
    if (const auto weight = fields.decimal("weight", 3, "a number such as 1 or 0.5")) {
        rights.weight = *weight;
    }
    rights.priority = static_cast<int>(fields.whole("priority", rights.priority));
    rights.kind = fields.choice("kind", rights.kind);
    const auto change_time = [&](std::string_view field, std::optional<model::Duration>& time) {
        if (const auto said = fields.duration(field)) time = said;
        if (is_null(field)) time.reset();
    };
    change_time("preemption_delay", project.preemption_delay);
    change_time("preempt_min_run", project.preempt_min_run);
    change_time("reclaim_min_run", project.reclaim_min_run);
    fields.finish();
    if (problems.any()) return problems.first();
    return project;
}

// What a change of this project's rights makes promise too much, as one JSON document.
std::string warnings_json(const Site& site, const std::string& project) {
    const cluster::Cluster& cluster = site.controller.state().cluster;
    const auto id = cluster.find_project(project);
    if (!id.is_valid()) return "{}";
    const std::string& parent = cluster.projects()[id.index()].project.parent;
    const std::string_view effect = site.controller.policy().scale_overcommitted
                                        ? "; each counts for its part"
                                        : "; this profile does not scale them down";
    std::string body;
    codec::JsonWriter json(body);
    json.begin_object(), json.key("warnings"), json.begin_array();
    for (const model::Overcommitment& found : scheduling::overcommitments(cluster)) {
        if (found.scope != parent && found.scope != project) continue;
        json.string(scheduling::overcommitment_text(found) + std::string(effect));
    }
    json.end_array(), json.end_object();
    return body;
}

}  // namespace

void get_nodes(Site& site, Call call) {
    call.respond(json_response(codec::node_list_json({view_nodes(site), {}}, names(site))));
}

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
            if (!status) return respond(problem(status.error()));
            respond(json_response(warnings_json(site, name), is_new ? 201 : 200));
        });
}

}  // namespace berth::api
