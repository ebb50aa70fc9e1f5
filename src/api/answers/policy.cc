// SPDX-License-Identifier: Apache-2.0
//
// What decides here: every setting with its value, and changing some.
#include <memory>

#include "api/answers/changes.h"
#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/condition.h"
#include "api/http/problem.h"
#include "codec/api/policy_view.h"
#include "codec/api/server_view.h"
#include "codec/text/json.h"
#include "codec/words/words.h"

namespace berth::api {
namespace {

base::Error unknown(std::string_view name) {
    if (auto gone = model::gone_setting(name)) {
        return {base::ErrorCode::NotFound, std::move(*gone)};
    }
    std::vector<std::string_view> names;
    for (const model::PolicySetting& setting : model::policy_settings()) {
        names.push_back(setting.name);
    }
    return {base::ErrorCode::NotFound,
            "no setting \"" + std::string(name) + "\"" + codec::did_you_mean(name, names)};
}

// A map from settings to their texts; numbers are taken as they stand, null resets.
base::Result<model::PolicyChanges> changes_in(const std::string& body) {
    BERTH_TRY(tree, codec::parse_json(body, "body"));
    if (tree.kind != codec::Value::Kind::Map)
        return base::invalid("body: wanted a map of settings");
    model::PolicyChanges changes;
    for (const auto& [name, value] : tree.members) {
        if (model::find_policy_setting(name) == nullptr) return tl::unexpected(unknown(name));
        const bool is_text =
            value.kind == codec::Value::Kind::String || value.kind == codec::Value::Kind::Number;
        if (!is_text && value.kind != codec::Value::Kind::Null) {
            return base::invalid(name + ": wanted a text, a number or null, found " +
                                 value.described());
        }
        changes[name] = is_text ? std::optional(value.text) : std::nullopt;
    }
    return changes;
}

std::string policy_document(const Site& site) {
    const control::Controller& controller = site.controller;
    return codec::policy_json(codec::view_policy(
        site.facts.profile,
        {controller.started_policy(), controller.policy(), controller.state().policy}));
}

}  // namespace

void get_policy(Site& site, Call call) {
    call.respond(tagged(call.request, policy_document(site)));
}

void put_policy(Site& site, Call call) {
    const std::string_view hint = "berth policy show";
    const auto changes = changes_in(call.request.body);
    if (!changes) return call.respond(problem(changes.error(), hint));
    const auto has_changed = std::make_shared<bool>(false);
    const auto condition = [&site, has_changed,
                            expected = call.request.expected_etags]() -> base::Status {
        *has_changed = !is_as_expected(expected, tag_of(policy_document(site)));
        if (!*has_changed) return {};
        return base::fail(base::ErrorCode::Conflict,
                          "the policy has changed since it was read; read it again");
    };
    site.controller.set_policy(
        *changes, call.request.user,
        [&site, hint, has_changed, respond = call.respond](const base::Status& status) {
            if (*has_changed) return respond(problem(412, status.error().message, hint));
            if (!status) return respond(problem(status.error(), hint));
            Response response = json_response(codec::notes_json({{}}));
            response.headers.emplace_back("ETag", tag_of(policy_document(site)));
            respond(std::move(response));
        },
        condition);
}

}  // namespace berth::api
