// SPDX-License-Identifier: Apache-2.0
#include "kube/client/transport/outcome.h"

#include <doctest/doctest.h>

using namespace berth::kube::client;
using Kind = Outcome::Kind;
using std::chrono::seconds;

TEST_CASE("a refusal has the server's code, reason, words and Retry-After") {
    const Outcome outcome = outcome_of(Effect::Write, {409, {}}, R"({"kind":"Status",
        "status":"Failure","message":"pod is bound","reason":"Conflict",
        "details":{"name":"a","retryAfterSeconds":2,"causes":[{"reason":"Other"}]},"code":409})");
    CHECK(outcome.kind == Kind::Refused);
    CHECK(outcome.code == 409);
    CHECK(outcome.reason == "Conflict");
    CHECK(outcome.message == "pod is bound");
    CHECK(outcome.retry_after == seconds(2));
}

TEST_CASE("a write that is answered with 5xx may be done; a read has no effect") {
    for (const int code : {500, 502, 503, 504}) {
        CAPTURE(code);
        CHECK(outcome_of(Effect::Write, {code, {}}, "{}").kind == Kind::Unknown);
        CHECK(outcome_of(Effect::None, {code, {}}, "{}").kind == Kind::Refused);
    }
    for (const int code : {400, 401, 403, 404, 409, 410, 422, 429}) {
        CAPTURE(code);
        CHECK(outcome_of(Effect::Write, {code, {}}, "{}").kind == Kind::Refused);
    }
    CHECK(outcome_of(Effect::Write, {201, {}}, "done").body == "done");
}

TEST_CASE("an answer that is not the API server's is reported in its own words") {
    const Outcome outcome = outcome_of(Effect::None, {502, seconds(7)}, "<html>Bad Gateway");
    CHECK(outcome.message == "status 502: <html>Bad Gateway");
    CHECK(outcome.retry_after == seconds(7));
}

TEST_CASE("a version that the server has not reached differs from another timeout") {
    const Outcome outcome = outcome_of(Effect::None, {504, {}}, R"({"reason":"Timeout",
        "details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"x"}]},"code":504})");
    CHECK(outcome.reason == "ResourceVersionTooLarge");
    CHECK(outcome_of(Effect::None, {504, {}}, R"({"reason":"Timeout"})").reason == "Timeout");
}

TEST_CASE("Retry-After is seconds, at most a day") {
    CHECK(parse_retry_after("3") == seconds(3));
    CHECK(parse_retry_after("99999999") == seconds(86400));
    for (const char* text : {"", "0", "-1", "3s", "Wed, 21 Oct 2015 07:28:00 GMT"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_retry_after(text).has_value());
    }
}
