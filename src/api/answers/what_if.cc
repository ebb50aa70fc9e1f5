// SPDX-License-Identifier: Apache-2.0
//
// How did a fair share come about, what would be different if, and the whole state as a file.
#include "foresight/what_if.h"

#include <memory>

#include "api/answers/job_views.h"
#include "api/answers/nearest_project.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/files/state_writer.h"
#include "lifecycle/write_down.h"
#include "scheduling/shares/share_account.h"

namespace berth::api {
namespace {

// Names of those that are only supposed too.
codec::NameSource names_of(const lifecycle::State& state, model::Duration date_shift) {
    codec::NameSource source;
    source.date_shift = date_shift;
    source.node = [&state](model::NodeId node) { return state.cluster.description(node).name; };
    source.job = [&state](model::JobId job) -> std::string {
        const auto found = state.jobs.find(job);
        if (found == state.jobs.end()) return {};
        return found->second.spec.project + "/" + found->second.spec.name;
    };
    return source;
}

}  // namespace

void get_fair_share(Site& site, Call call) {
    const Sight sight(site, call);
    const cluster::Cluster& cluster = sight.state().cluster;
    const auto project = cluster.find_project(call.words.front());
    if (!project.is_valid() || call.words.front().empty()) {
        return call.respond(problem(404,
                                    "project \"" + call.words.front() + "\" does not exist" +
                                        nearest_project(cluster, call.words.front()),
                                    "berth project ls"));
    }
    const std::string* name = call.request.find("pool");
    const auto pool = cluster.find_pool(name == nullptr ? model::kDefaultPool : *name);
    if (!pool.is_valid()) {
        return call.respond(problem(404, "pool \"" + *name + "\" does not exist"));
    }
    call.respond(json_response(codec::share_account_json(
        scheduling::account_of(cluster, sight.policy(), sight.now(), pool, project))));
}

void get_state(Site& site, Call call) {
    const Sight sight(site, call);
    model::Description description = lifecycle::written_down(sight.state(), sight.now());
    description.profile = site.facts.profile;
    if (const auto profile = model::policy_named(site.facts.profile)) {
        description.policy = model::changes_between(*profile, sight.policy());
    }
    call.respond(json_response(codec::state_json(description)));
}

void post_what_if(Site& site, Call call) {
    auto request = codec::parse_what_if_request(call.request.body);
    if (!request) return call.respond(problem(request.error()));
    for (model::Hypothesis& hypothesis : request->suppose) {
        if (hypothesis.spec.project.empty()) hypothesis.spec.project = site.default_project;
    }
    const lifecycle::State& state = site.controller.state();
    struct Task {
        lifecycle::State state;
        model::Policy policy;
        model::TimePoint now;
        std::vector<model::Hypothesis> suppose;
        Response response;
    };
    const auto task = std::make_shared<Task>(Task{state,
                                                  site.controller.policy(),
                                                  std::max(site.clock.now(), state.time),
                                                  std::move(request->suppose),
                                                  {}});
    const auto work = [task, shift = site.clock.date_shift()] {
        const auto compared =
            foresight::what_if(task->state, task->suppose, task->policy, task->now);
        task->response = compared ? json_response(codec::what_if_json(
                                        compared->what_if, names_of(compared->then, shift)))
                                  : problem(compared.error());
    };
    const auto respond = call.respond;
    if (!site.in_background(work, [task, respond] { respond(std::move(task->response)); })) {
        respond(problem(503, "too many questions about the future at once; ask again later"));
    }
}

}  // namespace berth::api
