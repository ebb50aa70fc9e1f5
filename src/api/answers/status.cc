// SPDX-License-Identifier: Apache-2.0
//
// How is the server, and ending it.
#include <unistd.h>

#include <map>
#include <set>

#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/api/server_view.h"
#include "codec/text/json.h"
#include "overview/overview.h"

namespace berth::api {
namespace {

// As the overview has it: what a job has on a node that is drained is used.
codec::GpuTotals gpus_of(const lifecycle::State& state) {
    const overview::GpuCounts counts = overview::gpu_counts_of(state);
    codec::GpuTotals gpus;
    gpus.total = counts.total;
    gpus.ready = counts.total - counts.not_ready;
    gpus.idle = counts.idle;
    gpus.used = gpus.ready - gpus.idle;
    return gpus;
}

std::map<std::string, std::int64_t> counts_of(const lifecycle::State& state) {
    std::map<std::string, std::int64_t> counts;
    for (std::size_t i = 0; i < state.counts.size(); ++i) {
        if (state.counts[i] > 0) counts[std::string(model::kJobStateNames[i])] = state.counts[i];
    }
    return counts;
}

// Of nodes that are kept alike the first one.
std::vector<codec::SharesKept> shares_of(Site& site) {
    const cluster::Cluster& cluster = site.controller.state().cluster;
    std::set<std::pair<std::string, std::string>> reported;
    std::vector<codec::SharesKept> shares;
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        const model::Node node = cluster.description({static_cast<model::NodeId::Rep>(i)});
        const std::string kept_by = site.shares_kept_by(node.name);
        if (node.health == model::NodeHealth::Down || kept_by.empty()) continue;
        if (!reported.emplace(kept_by, node.shares_lack).second) continue;
        shares.push_back({node.name, node.shares_lack.empty() ? kept_by : "", node.shares_lack});
    }
    return shares;
}

codec::StorageView storage_of(Site& site) {
    const auto& shortage = site.controller.shortage();
    const ports::Room room = site.store.room();
    codec::StorageView storage{room.free.value, room.wanted.value, shortage.has_value(), {}, {}};
    if (!shortage) return storage;
    storage.since = shortage->since;
    storage.text = control::shortage_text(room);
    return storage;
}

}  // namespace

void get_status(Site& site, Call call) {
    const ServerFacts& facts = site.facts;
    const Sight sight(site, call);
    const lifecycle::State& state = sight.state();
    const codec::ServerView server{.version = facts.version,
                                   .cluster_id = facts.cluster_id,
                                   .pid = ::getpid(),
                                   .started = facts.started,
                                   .data_dir = facts.data_dir,
                                   .port = facts.port,
                                   .profile = facts.profile,
                                   .launcher = facts.launcher,
                                   .inventory = facts.gpus,
                                   .default_project = site.default_project,
                                   .gpus = gpus_of(state),
                                   .jobs = counts_of(state),
                                   .shares = shares_of(site),
                                   .checkpoint_lack = facts.checkpoint_lack,
                                   .storage = storage_of(site),
                                   .last_job = state.last_job,
                                   .sequence = state.sequence};
    call.respond(json_response(codec::server_json(server, names(sight))));
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
