// SPDX-License-Identifier: Apache-2.0
//
// How do things stand for who asks, or for ?user=NAME.
#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/live/overview_fields.h"
#include "codec/api/api_style.h"

namespace berth::api {

std::string overview_json(const overview::Overview& seen, const std::string& user) {
    const OverviewView view{user,         overview::sentences(seen, user),
                            seen.gpus,    seen.jobs_of(user),
                            seen.jobs,    seen.wanted,
                            seen.projects};
    return codec::plain_json(view, nullptr);
}

void get_overview(Site& site, Call call) {
    const std::string user = call.request.find("user") ? call.text("user") : call.request.user;
    const Sight sight(site, call);
    const lifecycle::State& state = sight.state();
    std::string body = overview_json(overview::overview_of(state), user);
    add_member(body, "sequence", std::to_string(state.sequence));
    call.respond(json_response(std::move(body)));
}

}  // namespace berth::api
