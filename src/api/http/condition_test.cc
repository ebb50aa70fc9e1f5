// SPDX-License-Identifier: Apache-2.0
#include "api/http/condition.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace berth::api;

TEST_CASE("a document has the same tag until it says something else") {
    CHECK(tag_of("{\"quota\":4}") == tag_of("{\"quota\":4}"));
    CHECK(tag_of("{\"quota\":4}") != tag_of("{\"quota\":5}"));
    CHECK(tag_of("").front() == '"');
    CHECK(tag_of("").back() == '"');
}

TEST_CASE("who has the document hears that it is the same, with its tag") {
    Request request;
    const Response first = tagged(request, "{}");
    CHECK(first.status == 200);
    CHECK(first.body == "{}");
    request.known_etags = "\"other\", " + tag_of("{}");
    const Response again = tagged(request, "{}");
    CHECK(again.status == 304);
    CHECK(again.body.empty());
    for (const Response& response : {first, again}) {
        const std::pair<std::string, std::string> tag{"ETag", tag_of("{}")};
        CHECK(std::ranges::find(response.headers, tag) != response.headers.end());
    }
}

TEST_CASE("a change depends on the tags that it names, and on none when it names none") {
    CHECK(is_as_expected("", "\"a\""));
    CHECK(is_as_expected("", ""));
    CHECK(is_as_expected("\"a\"", "\"a\""));
    CHECK(is_as_expected("\"b\" , \"a\"", "\"a\""));
    CHECK(is_as_expected("*", "\"a\""));
    CHECK_FALSE(is_as_expected("\"b\"", "\"a\""));
    CHECK(is_as_expected("W/\"a\"", "\"a\""));
    CHECK_FALSE(is_as_expected("a", "\"a\""));
    CHECK_FALSE(is_as_expected("*", ""));
    CHECK_FALSE(is_as_expected("\"a\"", ""));
}
