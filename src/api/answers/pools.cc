// SPDX-License-Identifier: Apache-2.0
//
// Which pools are there, what is in them, and changing one.
#include <algorithm>

#include "api/answers/changes.h"
#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/api/server_view.h"
#include "codec/text/json.h"

namespace berth::api {
namespace {

using base::PoolId;

codec::PoolView view_pool(const cluster::Cluster& cluster, PoolId id) {
    const cluster::PoolState& pool = cluster.pool(id);
    codec::PoolView view;
    view.name = pool.name;
    view.labels = pool.labels;
    view.spares = pool.spares;
    view.strict_shares = pool.strict_shares;
    for (const auto& [model, weight] : pool.exchange) view.exchange[model] = {weight};
    for (const cluster::NodeState& node : cluster.nodes()) {
        if (node.pool != id) continue;
        ++view.nodes;
        view.nodes_ready += node.is_ready ? 1 : 0;
    }
    view.gpus = pool.capacity;
    view.used = cluster.claim(id, cluster::kRoot).usage.allocated;
    for (const base::ProjectId project : cluster.projects()[cluster::kRoot.index()].children) {
        view.quotas = std::min(view.quotas + cluster.claim(id, project).quota, model::kUnlimited);
    }
    return view;
}

void change_exchange(codec::FieldReader& fields, model::Pool& pool) {
    const codec::Value* map = fields.find("exchange");
    if (map == nullptr) return;
    if (map->kind != codec::Value::Kind::Map) return fields.refuse("exchange", "a map from models");
    for (const auto& [model, value] : map->members) {
        const auto weight = codec::decimal_from(value.text, 3);
        if (value.kind == codec::Value::Kind::Null) {
            pool.exchange.erase(model);
        } else if (weight) {
            pool.exchange[model] = *weight;
        } else {
            fields.refuse("exchange", "numbers such as 1 or 0.5, or null to take one away");
        }
    }
}

base::Result<model::Pool> changed(model::Pool pool, const std::string& body) {
    BERTH_TRY(tree, codec::parse_json(body, "body"));
    codec::Problems problems("body");
    codec::FieldReader fields(problems, tree, "");
    fields.text("name");
    change_labels(fields, "labels", pool.labels);
    change_exchange(fields, pool);
    if (tree.find("spares") != nullptr) pool.spares = fields.text("spares");
    pool.strict_shares = fields.flag("strict_shares", pool.strict_shares);
    fields.finish();
    if (problems.any()) return problems.first();
    if (pool.name != model::kDefaultPool && pool.labels.empty()) {
        return base::invalid("pool \"" + pool.name +
                             "\" needs labels: nodes that carry all of them stand in it");
    }
    return pool;
}

std::string text_of(const model::Labels& labels) {
    std::string text;
    for (const auto& [key, value] : labels) text += (text.empty() ? "" : ",") + key + "=" + value;
    return text;
}

bool are_alike(const model::Node& one, const model::Node& other) {
    return one.gpus == other.gpus && one.gpu_model == other.gpu_model &&
           one.gpu_memory == other.gpu_memory;
}

std::vector<model::Node> nodes_of(const cluster::Cluster& cluster, PoolId pool) {
    std::vector<model::Node> nodes;
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        const model::NodeId node{static_cast<model::NodeId::Rep>(i)};
        if (cluster.belongs_to(node) == pool) nodes.push_back(cluster.description(node));
    }
    return nodes;
}

// What of it will do nothing as things are.
std::vector<std::string> notes_on(const Site& site, const std::string& name) {
    const cluster::Cluster& cluster = site.controller.state().cluster;
    const PoolId id = cluster.find_pool(name);
    if (!id.is_valid()) return {};
    std::vector<std::string> notes;
    const cluster::PoolState& pool = cluster.pool(id);
    const std::vector<model::Node> nodes = nodes_of(cluster, id);
    if (nodes.empty() && !pool.labels.empty()) {
        const std::string labels = text_of(pool.labels);
        notes.push_back("no node carries the labels " + labels +
                        ", or an earlier pool takes those that do: berth node set NODE --labels " +
                        labels);
    }
    const PoolId spares = cluster.find_pool(pool.spares);
    if (nodes.empty() || !spares.is_valid()) return notes;
    const std::vector<model::Node> spare = nodes_of(cluster, spares);
    for (const model::Node& node : nodes) {
        const auto is_like_it = [&](const model::Node& other) { return are_alike(node, other); };
        if (std::ranges::any_of(spare, is_like_it)) continue;
        notes.push_back("pool " + pool.spares + " has no node like " + node.name +
                        ": as many GPUs of the same model with the same memory");
        break;
    }
    return notes;
}

}  // namespace

void get_pools(Site& site, Call call) {
    const Sight sight(site, call);
    const cluster::Cluster& cluster = sight.state().cluster;
    std::vector<codec::PoolView> views;
    for (std::size_t i = 0; i < cluster.pools().size(); ++i) {
        if (cluster.pools()[i].name.empty()) continue;  // removed
        views.push_back(view_pool(cluster, {static_cast<PoolId::Rep>(i)}));
    }
    call.respond(json_response(codec::pool_list_json({std::move(views), {}})));
}

void put_pool(Site& site, Call call) {
    const std::string& name = call.words.front();
    if (!codec::is_name(name) || name.find('/') != std::string::npos) {
        return call.respond(problem(400, "a pool's name has 1 to 200 bytes and no slash"));
    }
    const cluster::Cluster& cluster = site.controller.state().cluster;
    const PoolId known = cluster.find_pool(name);
    model::Pool pool{name, {}, {}};
    if (known.is_valid()) pool = cluster.pool(known).description();
    auto next = changed(std::move(pool), call.request.body);
    if (!next) return call.respond(problem(next.error()));
    site.controller.set_pool(
        std::move(*next), call.request.user,
        [&site, name, respond = call.respond,
         is_new = !known.is_valid()](const base::Status& status) {
            if (!status) return respond(refused(status.error(), "berth pool ls"));
            respond(json_response(codec::notes_json({notes_on(site, name)}), is_new ? 201 : 200));
        });
}

void delete_pool(Site& site, Call call) {
    const std::string& name = call.words.front();
    site.controller.record(model::PoolRemoved{name}, call.request.user,
                           [respond = call.respond](const base::Status& status) {
                               if (!status) return respond(refused(status.error()));
                               respond(json_response("{}"));
                           });
}

}  // namespace berth::api
