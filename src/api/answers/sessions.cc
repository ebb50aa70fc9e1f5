// SPDX-License-Identifier: Apache-2.0
//
// Signing in from a browser, and out; and who it is that asks. api/http/sessions.h says how.
#include "api/http/sessions.h"

#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/api/server_view.h"
#include "codec/text/field_reader.h"
#include "codec/text/json.h"

namespace berth::api {
namespace {

struct NamedRight {
    Right right;
    std::string_view name;
};
constexpr NamedRight kNamedRights[] = {{Right::See, "see"},         {Right::Read, "read"},
                                       {Right::Submit, "submit"},   {Right::Steer, "steer"},
                                       {Right::Cluster, "cluster"}, {Right::Server, "server"}};

std::vector<std::string> names_of(Rights rights) {
    std::vector<std::string> names;
    for (const NamedRight& each : kNamedRights) {
        if (rights.has(each.right)) names.emplace_back(each.name);
    }
    return names;
}

base::TimePoint end_of(const Sessions::Session& session) {
    const std::chrono::milliseconds since_epoch = session.ends.time_since_epoch();
    return base::at_ms(since_epoch.count());
}

base::Result<bool> wants_to_look_only(const std::string& body) {
    if (body.empty()) return false;
    BERTH_TRY(tree, codec::parse_json(body, "body"));
    if (tree.kind != codec::Value::Kind::Map) {
        return base::invalid("body: wanted a map, found " + tree.described());
    }
    codec::Problems problems("body");
    codec::FieldReader fields(problems, tree, "");
    const bool look_only = fields.flag("look_only", false);
    fields.finish();
    if (problems.any()) return problems.first();
    return look_only;
}

}  // namespace

void post_link(Site& site, Call call) {
    const auto look_only = wants_to_look_only(call.request.body);
    if (!look_only) return call.respond(problem(look_only.error()));
    const Rights rights = *look_only ? kLookOnly : call.request.rights;
    const auto code = site.sessions.invite(call.request.user, rights);
    if (!code) return call.respond(problem(code.error()));
    // The code is behind the "#", which no browser sends with its requests.
    const codec::LinkView link{
        "http://localhost:" + std::to_string(site.facts.port) + "/#code=" + *code,
        kCodeMax.count()};
    call.respond(json_response(codec::link_json(link)));
}

void post_session(Site& site, Call call) {
    const auto tree = codec::parse_json(call.request.body, "body");
    if (!tree) return call.respond(problem(tree.error()));
    const codec::Value* code = tree->find("code");
    if (code == nullptr || code->kind != codec::Value::Kind::String) {
        return call.respond(problem(400, "wanted \"code\", from a link of berth web"));
    }
    const auto session = site.sessions.begin(code->text);
    if (!session) return call.respond(problem(session.error()));
    if (!*session) {
        return call.respond(problem(
            401, "the link has been opened before, or is older than a minute", "berth web"));
    }
    const Sessions::Session& begun = **session;
    call.respond(json_response(
        codec::caller_json({begun.user, names_of(begun.rights), end_of(begun), begun.token})));
}

void delete_session(Site& site, Call call) {
    if (call.request.session.empty()) {
        return call.respond(problem(409, "who shows the server's token has no session to end"));
    }
    const auto ended = site.sessions.end(call.request.session);
    if (!ended) return call.respond(problem(ended.error()));
    call.respond(json_response("{}"));
}

void get_me(Site& site, Call call) {
    codec::CallerView caller{call.request.user, names_of(call.request.rights), {}, {}};
    const Sessions::Session* session = site.sessions.find(call.request.session);
    if (session != nullptr) caller.ends = end_of(*session);
    call.respond(json_response(codec::caller_json(caller)));
}

}  // namespace berth::api
