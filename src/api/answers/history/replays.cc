// SPDX-License-Identifier: Apache-2.0
//
// What would the last days have been under a change? A replay is begun, looked at, and ended.
#include "api/answers/job_views.h"
#include "api/answers/nearest_project.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/api/replay_json.h"

namespace berth::api {
namespace {

using model::Hypothesis;
using model::Supposition;

constexpr base::Duration kDay{24 * 3'600'000};
constexpr std::string_view kHelp = "berth help whatif";

tl::unexpected<base::Error> not_there(const std::string& what, const std::string& nearest = "") {
    return base::fail(base::ErrorCode::NotFound, what + " does not exist" + nearest);
}

// Of what can be supposed of days that are past: rights, nodes more, nodes less.
base::Status check(const Hypothesis& one, const cluster::Cluster& cluster) {
    switch (one.what) {
        case Supposition::Quota:
        case Supposition::Limit:
        case Supposition::Weight:
            if (one.name.empty() || !cluster.find_project(one.name).is_valid())
                return not_there("project \"" + one.name + "\"",
                                 nearest_project(cluster, one.name));
            if (one.pool.empty() || cluster.find_pool(one.pool).is_valid()) return {};
            return not_there("pool \"" + one.pool + "\"");
        case Supposition::Node:
            if (one.count < 1 || one.count > 1'000)
                return base::invalid("count: wanted 1 to 1000 nodes, found " +
                                     std::to_string(one.count));
            if (one.name.empty()) return {};
            [[fallthrough]];
        case Supposition::Drain:
            if (cluster.find_node(one.name).is_valid()) return {};
            return not_there("node \"" + one.name + "\"");
        default:
            return base::invalid(
                "suppose: of past days can be supposed quota, limit, weight, node and drain");
    }
}

base::Result<simulation::RerunQuestion> read_question(const Site& site, const Call& call) {
    BERTH_TRY(request, codec::parse_replay_request(call.request.body));
    if (request.days < 1 || request.days > model::kReplayDaysMax) {
        return base::invalid("days: wanted 1 to " + std::to_string(model::kReplayDaysMax) +
                             ", found " + std::to_string(request.days));
    }
    const lifecycle::State& state = site.controller.state();
    for (const Hypothesis& one : request.suppose) BERTH_TRY_VOID(check(one, state.cluster));
    BERTH_TRY_VOID(model::changed_policy(site.controller.policy(), request.policy));
    for (const auto& [name, value] : request.policy) {
        if (!name.starts_with("idle_")) continue;
        return base::invalid(name + ": cannot be supposed of past days: which GPUs were idle is " +
                             "not in the log");
    }
    const model::TimePoint now = std::max(site.clock.now(), state.time);
    return simulation::RerunQuestion{.from = now - request.days * kDay,
                                     .to = now,
                                     .last = state.sequence,
                                     .started_policy = site.controller.started_policy(),
                                     .suppose = std::move(request.suppose),
                                     .policy = std::move(request.policy)};
}

Response shown(const Site& site, const model::WhatIfReplay& replay) {
    codec::NameSource names;
    names.date_shift = site.clock.date_shift();
    return json_response(codec::what_if_replay_json(replay, names));
}

Response unknown(std::int64_t id) {
    return problem(404,
                   "replay " + std::to_string(id) +
                       " does not exist; a server forgets old ones, and all when it ends: ask anew",
                   kHelp);
}

}  // namespace

void post_replay(Site& site, Call call) {
    auto question = read_question(site, call);
    if (!question) return call.respond(problem(question.error(), kHelp));
    const auto id = site.replays.begin(std::move(*question));
    if (!id) return call.respond(busy(503, id.error().message + "; ask again later", 10));
    Response response = shown(site, *site.replays.find(*id));
    response.status = 202;
    call.respond(std::move(response));
}

void get_replay(Site& site, Call call) {
    const auto id = parse_number("replay", call.words.front());
    if (!id) return call.respond(problem(id.error()));
    const model::WhatIfReplay* replay = site.replays.find(*id);
    call.respond(replay == nullptr ? unknown(*id) : shown(site, *replay));
}

void delete_replay(Site& site, Call call) {
    const auto id = parse_number("replay", call.words.front());
    if (!id) return call.respond(problem(id.error()));
    if (!site.replays.cancel(*id)) return call.respond(unknown(*id));
    call.respond(shown(site, *site.replays.find(*id)));
}

}  // namespace berth::api
