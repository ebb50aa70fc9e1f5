// SPDX-License-Identifier: Apache-2.0
#include "api/contract/dispatch.h"

#include <algorithm>
#include <string_view>

#include "api/contract/asked.h"
#include "api/contract/route_table.h"
#include "api/http/problem.h"
#include "base/hash.h"
#include "codec/words/timestamp.h"

namespace berth::api {

using namespace std::string_view_literals;

namespace {

// Whether the path is the route's; the open words go to `words`.
bool matches(std::string_view route, std::string_view path, std::vector<std::string>& words) {
    words.clear();
    while (true) {
        const std::size_t route_end = std::min(route.find('/'), route.size());
        const std::size_t path_end = std::min(path.find('/'), path.size());
        const std::string_view word = path.substr(0, path_end);
        if (route.starts_with('{')) {
            if (word.empty()) return false;
            words.emplace_back(word);
        } else if (route.substr(0, route_end) != word) {
            return false;
        }
        if (route_end == route.size() || path_end == path.size()) {
            return route_end == route.size() && path_end == path.size();
        }
        route.remove_prefix(route_end + 1);
        path.remove_prefix(path_end + 1);
    }
}

// While there is no room, every answer to who may know says so: whatever was asked, the client can
// tell.
Respond with_notice(Site& site, Rights rights, Respond respond) {
    const auto& shortage = site.controller.shortage();
    if (!shortage || !rights.has(Right::See)) return respond;
    std::string notice = control::shortage_text(shortage->room);
    std::ranges::replace_if(notice, [](char letter) { return letter >= 0 && letter < ' '; }, '?');
    return [notice = std::move(notice), respond = std::move(respond)](Response response) {
        response.headers.emplace_back("Berth-Notice", notice);
        respond(std::move(response));
    };
}

// Another whenever the answer to this question of this user may be.
std::string etag_of(const Site& site, const Request& request) {
    std::uint64_t asked = base::hash(request.user, base::hash(request.path));
    for (const auto& [name, value] : request.query) {
        asked = base::hash(value, base::hash("=", base::hash(name, base::hash("&", asked))));
    }
    const std::int64_t age = base::to_ms(site.clock.now()) / kSameFor.count();
    return "\"" + std::to_string(site.controller.state().sequence) + "." + std::to_string(age) +
           "." + std::to_string(base::to_ms(site.facts.started)) + "." + std::to_string(asked) +
           "\"";
}

Respond with_etag(std::string etag, Respond respond) {
    return [etag = std::move(etag), respond = std::move(respond)](Response response) {
        if (response.status == 200) response.headers.emplace_back("ETag", etag);
        respond(std::move(response));
    };
}

Response unknown_moment(const Site& site, const base::Error& error) {
    if (error.code == base::ErrorCode::Exhausted) return busy(503, error.message, 1);
    if (error.code != base::ErrorCode::NotFound) return problem(error);
    const auto begins = site.moments.begins();
    if (!begins) return problem(error);
    const std::string first = codec::format_time(*begins + site.clock.date_shift());
    return problem(400, "at: nothing is known of that moment: the log begins at " + first,
                   "berth status --at " + first);
}

// Of the cluster as it was at that moment, once that is known.
void answer_at(Site& site, const Route& route, Call call) {
    const auto said = codec::parse_time(call.text(kAt.name));
    if (!said) return call.respond(problem(said.error()));
    const model::TimePoint at = *said - site.clock.date_shift();
    // Later events are not earlier than now.
    const model::TimePoint now = std::max(site.clock.now(), site.controller.state().time);
    if (at >= now) {
        return call.respond(problem(400,
                                    "at: wanted a moment that is past, found " +
                                        codec::format_time(*said) +
                                        "; without it the answer is of now",
                                    "berth status"));
    }
    const auto asked = std::make_shared<Call>(std::move(call));
    site.moments.ask(at, [&site, &route, asked](base::Result<std::shared_ptr<Moment>> moment) {
        if (!moment) return asked->respond(unknown_moment(site, moment.error()));
        asked->moment = std::move(*moment);
        route.answer(site, std::move(*asked));
    });
}

void answer_by(Site& site, const Route& route, Request request, std::vector<std::string> words,
               Respond respond) {
    if (!request.rights.has(route.right)) {
        return respond(problem(403, "who signed in here may look and change nothing", "berth web"));
    }
    if (const auto asked = check_asked(route, request, words); !asked) {
        return respond(problem(asked.error()));
    }
    if (route.changes == Changes::WithEvents) {
        const std::string etag = etag_of(site, request);
        const bool is_known_there = request.known_etags.find(etag) != std::string::npos;
        if (is_known_there) return respond({304, "", "", {{"ETag", etag}}});
        respond = with_etag(etag, std::move(respond));
    }
    const bool is_past = request.find(kAt.name) != nullptr;
    Call call{std::move(request), std::move(respond), std::move(words)};
    is_past ? answer_at(site, route, std::move(call)) : route.answer(site, std::move(call));
}

}  // namespace

void answer(Site& site, Request request, Respond respond) {
    respond = with_notice(site, request.rights, std::move(respond));
    const std::string_view method = request.method == "HEAD" ? "GET"sv : request.method;
    const std::string_view whole = request.path;
    const std::string below(whole.starts_with(kPrefix) ? whole.substr(kPrefix.size()) : "");
    std::vector<std::string> words;
    std::string allowed;
    for (const Route& route : routes()) {
        if (!matches(route.path, route.path.starts_with('/') ? whole : below, words)) continue;
        if (route.method != method) {
            allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
            continue;
        }
        return answer_by(site, route, std::move(request), std::move(words), std::move(respond));
    }
    if (!allowed.empty()) {
        Response response =
            problem(405, "method " + request.method + " is not for " + request.path);
        response.headers.emplace_back("Allow", std::move(allowed));
        return respond(std::move(response));
    }
    if (!whole.starts_with("/api/")) return respond(site.pages.answer(request));
    if (!below.empty()) return respond(problem(404, "there is no address " + request.path));
    respond(problem(404, "the API is below " + std::string(kPrefix)));
}

}  // namespace berth::api
