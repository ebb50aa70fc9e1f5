// SPDX-License-Identifier: Apache-2.0
//
// Which projects are there, what do they have, and who of them lends and borrows?
#include "api/answers/job_views.h"
#include "api/answers/nearest_project.h"
#include "api/answers/routes.h"
#include "api/http/condition.h"
#include "api/http/problem.h"
#include "api/live/overview_fields.h"
#include "codec/api/api_style.h"
#include "scheduling/shares/fair_share.h"

namespace berth::api {
namespace {

std::vector<codec::ProjectView> view_projects(const Sight& sight) {
    const cluster::Cluster& cluster = sight.state().cluster;
    std::vector<codec::ProjectView> views;
    for (std::size_t i = 1; i < cluster.projects().size(); ++i) {
        const base::ProjectId id{static_cast<base::ProjectId::Rep>(i)};
        views.push_back({cluster.projects()[i].project, {}, cluster::order_accuracy(cluster, id)});
    }
    for (std::size_t p = 0; p < cluster.pools().size(); ++p) {
        const base::PoolId pool{static_cast<base::PoolId::Rep>(p)};
        if (cluster.pool(pool).name.empty()) continue;  // removed
        const auto shares =
            scheduling::fair_shares(cluster, pool, sight.policy(), sight.state().time);
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

// Of each pool, in their order.
std::vector<LendingView> view_lending(const cluster::Cluster& cluster) {
    std::vector<LendingView> views;
    for (std::size_t p = 0; p < cluster.pools().size(); ++p) {
        const std::string& name = cluster.pools()[p].name;
        if (name.empty()) continue;  // removed
        const auto lending =
            overview::lending_of(cluster, base::PoolId{static_cast<base::PoolId::Rep>(p)});
        views.push_back({lending, name, overview::lending_sentences(lending)});
    }
    return views;
}

}  // namespace

void get_projects(Site& site, Call call) {
    const Sight sight(site, call);
    std::string body = codec::project_list_json({view_projects(sight), {}});
    add_member(body, "lending", codec::plain_json(view_lending(sight.state().cluster), nullptr));
    call.respond(json_response(std::move(body)));
}

void get_project(Site& site, Call call) {
    const std::string& name = call.words.front();
    const cluster::Cluster& cluster = site.controller.state().cluster;
    const auto project = cluster.find_project(name);
    if (!project.is_valid() || name.empty()) {
        return call.respond(
            problem(404, "project \"" + name + "\" does not exist" + nearest_project(cluster, name),
                    "berth project ls"));
    }
    const model::Project& known = cluster.projects()[project.index()].project;
    call.respond(tagged(call.request, codec::project_json(known)));
}

}  // namespace berth::api
