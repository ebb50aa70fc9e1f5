// SPDX-License-Identifier: Apache-2.0
#include "kube/client/caches/watch.h"

#include <doctest/doctest.h>

#include <vector>

using namespace berth::kube::client;
using berth::codec::JsonReader;

TEST_CASE("events are cut out of pieces of any size") {
    const std::string stream = "{\"a\":1}\n\n{\"b\":2}\n{\"c\":3}\n";
    for (std::size_t size = 1; size <= stream.size(); ++size) {
        CAPTURE(size);
        Lines lines;
        std::vector<std::string> found;
        for (std::size_t at = 0; at < stream.size(); at += size) {
            const auto goes_on = lines.add(stream.substr(at, size), [&](std::string_view line) {
                return found.emplace_back(line), true;
            });
            REQUIRE(goes_on);
            CHECK(*goes_on);
        }
        CHECK(found == std::vector<std::string>{"{\"a\":1}", "{\"b\":2}", "{\"c\":3}"});
    }
}

TEST_CASE("who has seen enough gets no more lines") {
    Lines lines;
    int seen = 0;
    const auto goes_on = lines.add("1\n2\n3\n", [&](std::string_view) { return ++seen < 2; });
    REQUIRE(goes_on);
    CHECK_FALSE(*goes_on);
    CHECK(seen == 2);
}

TEST_CASE("an event without end is refused with its limit") {
    Lines lines;
    const std::string piece(std::size_t{1} << 20, 'x');
    berth::base::Result<bool> goes_on = true;
    for (int i = 0; i < 9 && goes_on; ++i) {
        goes_on = lines.add(piece, [](std::string_view) { return true; });
    }
    REQUIRE_FALSE(goes_on);
    CHECK(goes_on.error().message == "an event is larger than 8 MiB");
}

TEST_CASE("an event is read whichever of type and object comes first") {
    for (const char* line : {R"({"type":"MODIFIED","object":{"x":[1,2]}})",
                             R"({"object":{"x":[1,2]},"more":null,"type":"MODIFIED"})"}) {
        CAPTURE(line);
        EventType seen = EventType::Unknown;
        CHECK(read_event(line, [&](EventType type, JsonReader& reader) {
            seen = type;
            reader.skip();
        }));
        CHECK(seen == EventType::Modified);
    }
}

TEST_CASE("what is no event is refused") {
    for (const char* line : {"", "{}", R"({"type":"ADDED"})", R"({"type":"ADDED","object":{})",
                             R"({"type":"ADDED","object":{}} x)", "[]", "HTTP/1.1 200 OK"}) {
        CAPTURE(line);
        CHECK_FALSE(read_event(line, [](EventType, JsonReader& reader) { reader.skip(); }));
    }
}
