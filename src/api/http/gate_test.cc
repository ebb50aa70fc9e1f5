// SPDX-License-Identifier: Apache-2.0
#include "api/http/gate.h"

#include <doctest/doctest.h>

using namespace berth::api;

namespace {

const Peer kNetwork{.user = "ann"};
const Gate::Clock::time_point kNow{std::chrono::hours{1}};

Sender with_token(std::string_view host, std::string_view origin = "") {
    return {"Bearer bth_1", host, origin, true};
}

int status_of(Gate& gate, const Sender& sender, Gate::Clock::time_point now = kNow) {
    const auto asker = gate.hear(kNetwork, sender, now);
    return asker ? 200 : asker.error().status;
}

}  // namespace

TEST_CASE("on the socket the user counts, on TCP the token") {
    Gate gate("bth_1");
    const Sender nothing{};
    CHECK(gate.hear({true, true, "ann"}, nothing, kNow)->rights == kAllRights);
    CHECK(gate.hear({true, false, "eve"}, with_token("localhost"), kNow).error().status == 403);
    CHECK(status_of(gate, with_token("localhost")) == 200);
    CHECK(status_of(gate, {"Bearer bth_2", "localhost", "", true}) == 401);
    CHECK(status_of(gate, {"", "localhost", "", true}) == 401);
}

TEST_CASE("a name that only points to this machine is none of its names") {
    Gate gate("bth_1");
    for (const char* host : {"localhost", "localhost:7433", "LOCALHOST:1", "127.0.0.1",
                             "127.0.0.1:7433", "[::1]", "[::1]:7433"}) {
        CAPTURE(host);
        CHECK(status_of(gate, with_token(host)) == 200);
    }
    for (const char* host : {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
                             "127.0.0.2", "[::1", "[::2]", "::1", "x:localhost", ":7433", "[",
                             "[::1]evil", "[::1]:x", "localhost:80@evil.example"}) {
        CAPTURE(host);
        CHECK(status_of(gate, with_token(host)) == 421);
    }
    Sender twice = with_token("localhost");
    twice.has_one_host = false;
    CHECK(status_of(gate, twice) == 421);
}

TEST_CASE("a page of another site is refused with the right token too") {
    Gate gate("bth_1");
    CHECK(status_of(gate, with_token("localhost:7433", "http://localhost:7433")) == 200);
    for (const char* origin : {"http://evil.example", "null", "http://localhost:8888",
                               "https://localhost:7433", "http://127.0.0.1:7433", "http://"}) {
        CAPTURE(origin);
        CHECK(status_of(gate, with_token("localhost:7433", origin)) == 403);
    }
}

TEST_CASE("wrong tokens are counted, and the right one opens whatever others have tried") {
    Gate gate("bth_1");
    const Sender wrong{"Bearer bth_2", "localhost", "", true};
    for (std::size_t i = 0; i < kWrongTokensMax; ++i) CHECK(status_of(gate, wrong) == 401);
    const auto refused = gate.hear(kNetwork, wrong, kNow + std::chrono::seconds{20});
    CHECK(refused.error().status == 429);
    CHECK(refused.error().headers.front() ==
          std::pair<std::string, std::string>("Retry-After", "40"));
    CHECK(status_of(gate, with_token("localhost"), kNow) == 200);
    CHECK(status_of(gate, wrong, kNow + std::chrono::seconds{60}) == 401);
}

TEST_CASE("where anyone is heard no token is wanted, and any name is the server's") {
    Gate gate("", nullptr, Hears::Anyone);
    CHECK(status_of(gate, {"", "10.1.2.3:8080", "", true}) == 200);
    CHECK(status_of(gate, {"", "scheduler.example", "", true}) == 200);
    CHECK(gate.hear({true, false, "eve"}, {}, kNow).error().status == 403);
}

TEST_CASE("pages and signing in want no token, but this server's name and no other site's page") {
    CHECK(asks_for_no_secrets("GET", "/"));
    CHECK(asks_for_no_secrets("HEAD", "/assets/app.js"));
    CHECK(asks_for_no_secrets("POST", "/api/v1/session"));
    for (const auto& [method, path] : {std::pair("GET", "/api/v1/jobs"),
                                       {"GET", "/api/v1/session"},
                                       {"DELETE", "/api/v1/session"},
                                       {"POST", "/"},
                                       {"POST", "/api/v1/session/"},
                                       {"GET", "/api/"},
                                       {"GET", "/metrics"}}) {
        CAPTURE(path);
        CHECK_FALSE(asks_for_no_secrets(method, path));
    }
    Gate gate("bth_1");
    const auto asker = gate.hear(kNetwork, {"", "localhost", "", true, true}, kNow);
    CHECK(asker->rights == Rights());
    CHECK_FALSE(asker->is_known);
    CHECK(status_of(gate, {"", "evil.example", "", true, true}) == 421);
    CHECK(status_of(gate, {"", "localhost", "http://evil.example", true, true}) == 403);
}

TEST_CASE("a session opens with what it may do, until it ends") {
    Sessions sessions("/nonexistent/sessions");
    const auto session = sessions.begin(*sessions.invite("ann", kLookOnly)).value();
    Gate gate("bth_1", &sessions);
    const std::string header = "Bearer " + session->token;
    const auto asker = gate.hear({}, {header, "localhost", "", true}, kNow);
    CHECK(asker->user == "ann");
    CHECK(asker->rights == kLookOnly);
    CHECK(asker->session == session->token);
    CHECK_FALSE(asker->is_known);
    const auto whole = sessions.begin(*sessions.invite("ann", kAllRights)).value();
    CHECK(gate.hear({}, {"Bearer " + whole->token, "localhost", "", true}, kNow)->is_known);
    CHECK(sessions.end(session->token));
    CHECK(status_of(gate, {header, "localhost", "", true}) == 401);
}
