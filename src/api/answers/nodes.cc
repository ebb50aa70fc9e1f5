// SPDX-License-Identifier: Apache-2.0
//
// Which nodes are there, what do they hold, and changing what people say of one.
#include <algorithm>
#include <map>
#include <string_view>

#include "api/answers/changes.h"
#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/api/server_view.h"
#include "codec/text/json.h"
#include "codec/text/json_writer.h"
#include "control/launch_order.h"
#include "overview/node_sentences.h"

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
            {use.job, use.memory, use.memory_limit, use.compute, use.cap});
    }
}

// What each GPU is given to, without what was measured.
std::vector<codec::NodeView> view_nodes(const lifecycle::State& state) {
    std::vector<codec::NodeView> views;
    for (std::size_t i = 0; i < state.cluster.nodes().size(); ++i) {
        const model::NodeId id{static_cast<model::NodeId::Rep>(i)};
        codec::NodeView view{state.cluster.description(id), {}, {}, {}, {}, {}};
        view.pool = state.cluster.pool(state.cluster.nodes()[i].pool).name;
        view.labelled_pool = state.cluster.pool(state.cluster.labelled(id)).name;
        const bool is_misplaced = state.cluster.membership().misplaced.contains(id);
        if (is_misplaced) view.joins = state.cluster.pool(state.cluster.belongs_to(id)).name;
        for (int index = 0; index < view.gpus; ++index) {
            codec::GpuView gpu;
            gpu.index = index;
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
    for (codec::NodeView& view : views) {
        const model::Bytes all = model::memory_left_by_driver(view);
        for (codec::GpuView& gpu : view.devices) {
            gpu.used = std::max(gpu.compute_held, model::part_rounded_up(gpu.memory_held, all));
        }
    }
    return views;
}

void add_measured(Site& site, std::vector<codec::NodeView>& views) {
    const auto measured = readings(site);
    for (codec::NodeView& view : views) {
        view.shares_kept_by = site.shares_kept_by(view.name);
        for (codec::GpuView& gpu : view.devices) {
            const auto reading = measured.find({view.name, gpu.index});
            if (reading != measured.end()) add_reading(gpu, reading->second);
        }
    }
    add_uses(views, site.share_uses());
    for (const ports::UncountedProcess& process : site.uncounted()) {
        const auto view = std::ranges::find(views, process.node, &codec::NodeView::name);
        if (view != views.end() && process.index < view->gpus)
            view->devices[static_cast<std::size_t>(process.index)].uncounted.push_back(
                shown(process));
    }
}

// The fields that are given change, the others stay.
base::Result<model::Node> changed(model::Node node, const std::string& body) {
    BERTH_TRY(tree, codec::parse_json(body, "body"));
    codec::Problems problems("body");
    codec::FieldReader fields(problems, tree, "");
    change_labels(fields, "labels", node.labels);
    change_labels(fields, "topology", node.topology);
    if (fields.has("health")) {
        const auto wanted = fields.choice("health", model::NodeHealth::Ready);
        if (wanted == model::NodeHealth::Down) {
            fields.report("health",
                          "wanted ready or drained: a node is down when it does not answer");
        } else if (node.health == model::NodeHealth::Down) {
            return base::fail(base::ErrorCode::Conflict,
                              "node \"" + node.name + "\" does not answer; start it again first");
        }
        node.health = wanted;
    }
    fields.finish();
    if (problems.any()) return problems.first();
    return node;
}

// What keeps the node from being where it belongs now.
std::vector<std::string> notes_on(Site& site, model::NodeId node) {
    const cluster::Cluster& cluster = site.controller.state().cluster;
    if (!cluster.membership().misplaced.contains(node)) return {};
    std::string text = "it joins pool " + cluster.pool(cluster.belongs_to(node)).name +
                       " once it is empty, and takes no more work until then";
    const auto& jobs = cluster.jobs_on(node);
    if (!jobs.empty()) text += "; " + names(site).job(jobs.front()) + " is there";
    return {text};
}

}  // namespace

void get_nodes(Site& site, Call call) {
    const Sight sight(site, call);
    std::vector<codec::NodeView> views = view_nodes(sight.state());
    if (!sight.is_past()) add_measured(site, views);
    std::string body = codec::node_list_json({std::move(views), {}}, names(sight));
    std::string said;
    codec::JsonWriter json(said);
    json.begin_array();
    for (const auto& sentence : overview::node_sentences(sight.state().cluster)) {
        json.string(sentence.text);
    }
    json.end_array();
    add_member(body, "sentences", said);
    call.respond(json_response(std::move(body)));
}

void put_node(Site& site, Call call) {
    std::string name;
    for (const std::string& word : call.words) name += (name.empty() ? "" : "/") + word;
    const cluster::Cluster& cluster = site.controller.state().cluster;
    const auto id = cluster.find_node(name);
    if (!id.is_valid()) {
        return call.respond(problem(404, "there is no node \"" + name + "\"", "berth node ls"));
    }
    auto next = changed(cluster.description(id), call.request.body);
    if (!next) return call.respond(problem(next.error()));
    site.controller.set_node(std::move(*next), call.request.user,
                             [&site, id, respond = call.respond](const base::Status& status) {
                                 if (!status) return respond(refused(status.error()));
                                 respond(json_response(codec::notes_json({notes_on(site, id)})));
                             });
}

}  // namespace berth::api
