// SPDX-License-Identifier: Apache-2.0
#include "api/http/http.h"

#include <doctest/doctest.h>

using berth::api::append_response;
using berth::api::parse_target;
using berth::api::Request;
using berth::api::Response;

TEST_CASE("an address is split and decoded") {
    Request request;
    REQUIRE(parse_target("/api/v1/jobs%2F3?state=a%20b&x&y=1=2", request));
    CHECK(request.path == "/api/v1/jobs/3");
    REQUIRE(request.find("state") != nullptr);
    CHECK(*request.find("state") == "a b");
    CHECK(*request.find("x") == "");
    CHECK(*request.find("y") == "1=2");
    CHECK(request.find("z") == nullptr);
}

TEST_CASE("a broken escape is refused wherever it stands") {
    for (const char* target : {"/%", "/%4", "/%zz", "/a?x=%", "/a?%f", "/a?%g0=1"}) {
        Request request;
        CAPTURE(target);
        CHECK_FALSE(parse_target(target, request));
    }
    Request request;
    CHECK(parse_target("/%41", request));
    CHECK(request.path == "/A");
}

TEST_CASE("an answer carries its length, its headers and whether more may follow") {
    Response response;
    response.status = 201;
    response.body = "{}";
    response.headers = {{"Location", "/x"}};
    std::string text;
    append_response(text, response, false);
    CHECK(text ==
          "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
          "Location: /x\r\n\r\n{}");
    text.clear();
    append_response(text, {}, true);
    CHECK(text.find("\r\nConnection: close\r\n") != std::string::npos);
}

TEST_CASE("to HEAD the body is described as it would be, and not sent") {
    std::string text;
    append_response(text, {200, "abc", "text/plain", {}, true}, false);
    CHECK(text.ends_with("\r\nContent-Length: 3\r\n\r\n"));
}

TEST_CASE("what the client has already is neither sent nor described again") {
    std::string text;
    append_response(text, {304, "", "text/html", {{"ETag", "\"x\""}}}, false);
    CHECK(text == "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n");
}
