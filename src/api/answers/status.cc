// SPDX-License-Identifier: Apache-2.0
//
// How is the server, and ending it.
#include <unistd.h>

#include <map>
#include <set>

#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/text/json.h"
#include "codec/text/json_writer.h"
#include "codec/words/timestamp.h"

namespace berth::api {
namespace {

void write_gpus(codec::JsonWriter& json, const cluster::Cluster& cluster) {
    model::MilliGpu total{0};
    model::MilliGpu ready{0};
    model::MilliGpu idle{0};
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        total += base::gpus(cluster.own_gpus({static_cast<model::NodeId::Rep>(i)}));
    }
    for (const cluster::PoolState& pool : cluster.pools()) {
        ready += pool.capacity;
        idle += pool.free_total[static_cast<std::size_t>(cluster::View::Idle)];
    }
    json.key("gpus").begin_object();
    json.key("total").raw(base::format(total));
    json.key("ready").raw(base::format(ready));
    json.key("used").raw(base::format(ready - idle));
    json.key("idle").raw(base::format(idle));
    json.end_object();
}

void write_jobs(codec::JsonWriter& json, const lifecycle::State& state) {
    std::map<std::string_view, std::int64_t> counts;  // by name, as they were always written
    for (std::size_t i = 0; i < state.counts.size(); ++i) {
        if (state.counts[i] > 0) counts[model::kJobStateNames[i]] = state.counts[i];
    }
    json.key("jobs").begin_object();
    for (const auto& [name, count] : counts) json.key(name).number(count);
    json.end_object();
}

// Of nodes that are kept alike the first one.
void write_shares(codec::JsonWriter& json, Site& site) {
    const cluster::Cluster& cluster = site.controller.state().cluster;
    std::set<std::pair<std::string, std::string>> reported;
    json.key("shares").begin_array();
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        const model::Node node = cluster.description({static_cast<model::NodeId::Rep>(i)});
        const std::string kept_by = site.shares_kept_by(node.name);
        if (node.health == model::NodeHealth::Down || kept_by.empty()) continue;
        if (!reported.emplace(kept_by, node.shares_lack).second) continue;
        json.begin_object();
        json.key("node").string(node.name);
        json.key("kept_by").string(node.shares_lack.empty() ? kept_by : "");
        json.key("lack").string(node.shares_lack);
        json.end_object();
    }
    json.end_array();
    json.key("checkpoint_lack").string(site.facts.checkpoint_lack);
}

void write_storage(codec::JsonWriter& json, Site& site) {
    const auto& shortage = site.controller.shortage();
    const ports::Room room = site.store.room();
    json.key("storage").begin_object();
    json.key("free").number(room.free.value);
    json.key("wanted").number(room.wanted.value);
    json.key("full").boolean(shortage.has_value());
    if (shortage) {
        json.key("since").string(codec::format_time(shortage->since));
        json.key("text").string(control::shortage_text(room));
    }
    json.end_object();
}

}  // namespace

void get_status(Site& site, Call call) {
    const ServerFacts& facts = site.facts;
    const lifecycle::State& state = site.controller.state();
    std::string body;
    codec::JsonWriter json(body);
    json.begin_object();
    json.key("version").string(facts.version);
    json.key("cluster_id").string(facts.cluster_id);
    json.key("pid").number(::getpid());
    json.key("started").string(codec::format_time(facts.started + site.clock.date_shift()));
    json.key("data_dir").string(facts.data_dir);
    json.key("port").number(facts.port);
    json.key("profile").string(facts.profile);
    json.key("launcher").string(facts.launcher);
    json.key("inventory").string(facts.gpus);
    json.key("default_project").string(site.default_project);
    write_gpus(json, state.cluster);
    write_jobs(json, state);
    write_shares(json, site);
    write_storage(json, site);
    json.key("last_job").number(state.last_job.value);
    json.key("sequence").number(state.sequence);
    json.end_object();
    call.respond(json_response(std::move(body)));
}

void post_shutdown(Site& site, Call call) {
    JobsAtShutdown jobs = JobsAtShutdown::Keep;
    if (!call.request.body.empty()) {
        const auto tree = codec::parse_json(call.request.body, "body");
        if (!tree) return call.respond(problem(tree.error()));
        const codec::Value* wish = tree->find("jobs");
        if (wish != nullptr && wish->text == "cancel") {
            jobs = JobsAtShutdown::Cancel;
        } else if (wish != nullptr && wish->text != "keep") {
            return call.respond(
                problem(400, "jobs: wanted keep or cancel, found " + wish->described()));
        }
    }
    call.respond(json_response("{}"));
    site.shut_down(jobs);
}

}  // namespace berth::api
