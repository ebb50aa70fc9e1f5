// SPDX-License-Identifier: Apache-2.0
#include "api/answers/routes.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "api/http/problem.h"
#include "base/hash.h"

namespace berth::api {

using namespace std::string_view_literals;

namespace {

// Whether the same question has the same answer until the next event; what depends on the time
// beside that (ranks, the end of a minimum run) may be kSameFor old then.
enum class Changes { Always, WithEvents };
constexpr base::Duration kSameFor{10'000};

struct Route {
    std::string_view method;
    // Below kPrefix, or from the root; "*" stands for one word that is left open.
    std::string_view path;
    Right right;            // that who asks has to have
    void (*answer)(Site&, Call);
    Changes changes = Changes::Always;
};

constexpr std::string_view kPrefix = "/api/v1/";

constexpr Route kRoutes[] = {
    {"GET", "status", Right::See, get_status},
    {"GET", "overview", Right::See, get_overview, Changes::WithEvents},
    {"GET", "ledger", Right::See, get_ledger},
    {"POST", "shutdown", Right::Server, post_shutdown},
    {"POST", "jobs", Right::Submit, post_job},
    {"GET", "jobs", Right::See, get_jobs, Changes::WithEvents},
    {"GET", "jobs/*", Right::See, get_job},
    {"GET", "jobs/*/why", Right::See, get_why},
    {"GET", "jobs/*/timeline", Right::See, get_timeline},
    {"GET", "jobs/*/receipts", Right::See, get_receipts, Changes::WithEvents},
    {"GET", "jobs/*/log", Right::Read, get_log},
    {"GET", "jobs/*/attach", Right::Steer, get_attach},
    {"POST", "jobs/*/*", Right::Steer, steer_job},
    {"GET", "events", Right::See, get_events},
    {"GET", "stream", Right::See, get_stream},
    {"GET", "nodes", Right::See, get_nodes},
    {"GET", "gpus", Right::See, get_nodes},
    {"PUT", "nodes/*", Right::Cluster, put_node},
    {"PUT", "nodes/*/*", Right::Cluster, put_node},
    {"GET", "pools", Right::See, get_pools, Changes::WithEvents},
    {"PUT", "pools/*", Right::Cluster, put_pool},
    {"DELETE", "pools/*", Right::Cluster, delete_pool},
    {"GET", "projects", Right::See, get_projects, Changes::WithEvents},
    {"PUT", "projects/*", Right::Cluster, put_project},
    {"GET", "state", Right::Read, get_state},
    {"POST", "what-if", Right::See, post_what_if},
    {"GET", "projects/*/fair-share", Right::See, get_fair_share},
    {"DELETE", "projects/*", Right::Cluster, delete_project},
    {"GET", "policy", Right::See, get_policy, Changes::WithEvents},
    {"PUT", "policy", Right::Cluster, put_policy},
    {"GET", "me", Right::See, get_me},
    {"POST", "links", Right::Server, post_link},
    {"POST", "session", Right::Anyone, post_session},
    {"DELETE", "session", Right::See, delete_session},
    {"GET", "/metrics", Right::See, get_metrics},
    {"GET", "/healthz", Right::Anyone, get_health},
    {"GET", "/readyz", Right::Anyone, get_readiness},
};

// Whether the path is the route's; the open words go to `words`.
bool matches(std::string_view route, std::string_view path, std::vector<std::string>& words) {
    words.clear();
    while (true) {
        const std::size_t route_end = std::min(route.find('/'), route.size());
        const std::size_t path_end = std::min(path.find('/'), path.size());
        const std::string_view word = path.substr(0, path_end);
        if (route.substr(0, route_end) == "*") {
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

base::Result<std::int64_t> parse_number(std::string_view name, std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number >= 0) return number;
    return base::invalid(std::string(name) + ": wanted a whole number, found \"" +
                         std::string(text) + "\"");
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

}  // namespace

void answer(Site& site, Request request, Respond respond) {
    respond = with_notice(site, request.rights, std::move(respond));
    const std::string_view method = request.method == "HEAD" ? "GET"sv : request.method;
    const std::string_view whole = request.path;
    const std::string below(whole.starts_with(kPrefix) ? whole.substr(kPrefix.size()) : "");
    std::vector<std::string> words;
    bool is_known = false;
    for (const Route& route : kRoutes) {
        if (!matches(route.path, route.path.starts_with('/') ? whole : below, words)) continue;
        is_known = true;
        if (route.method != method) continue;
        if (!request.rights.has(route.right)) {
            return respond(
                problem(403, "who signed in here may look and change nothing", "berth web"));
        }
        if (route.changes == Changes::WithEvents) {
            const std::string etag = etag_of(site, request);
            const bool is_known_there = request.known_etags.find(etag) != std::string::npos;
            if (is_known_there) return respond({304, "", "", {{"ETag", etag}}});
            respond = with_etag(etag, std::move(respond));
        }
        return route.answer(site, {std::move(request), std::move(respond), std::move(words)});
    }
    if (is_known) {
        return respond(problem(405, "method " + request.method + " is not for " + request.path));
    }
    if (!whole.starts_with("/api/")) return respond(site.pages.answer(request));
    if (!below.empty()) return respond(problem(404, "there is no address " + request.path));
    respond(problem(404, "the API is below " + std::string(kPrefix)));
}

void on_events(Site& site, std::span<const model::Event> events) {
    site.waiting.on_events(events);
    site.live.on_events(events);
}

void on_tick(Site& site) {
    site.waiting.on_tick(site.clock.now());
    if (!site.live.is_empty()) show_news(site);
}

bool has_listeners(const Site& site) { return !site.waiting.is_empty() || !site.live.is_empty(); }

void end_listening(Site& site) {
    site.waiting.answer_all();
    site.live.end();
}

base::Result<base::Duration> Call::wait() const {
    const std::string* text = request.find("wait");
    if (text == nullptr) return base::Duration{0};
    BERTH_TRY(seconds, parse_number("wait", *text));
    return std::min(base::Duration{std::min<std::int64_t>(seconds, 3600) * 1000}, kWaitMax);
}

base::Result<std::int64_t> Call::number(std::string_view name, std::int64_t fallback) const {
    const std::string* text = request.find(name);
    if (text == nullptr) return fallback;
    return parse_number(name, *text);
}

std::string Call::text(std::string_view name) const {
    const std::string* text = request.find(name);
    return text == nullptr ? std::string() : *text;
}

base::Result<model::JobId> Call::job() const {
    BERTH_TRY(number, parse_number("job", words.front()));
    return model::JobId{number};
}

}  // namespace berth::api
