// SPDX-License-Identifier: Apache-2.0
#include "codec/words/timestamp.h"

#include <doctest/doctest.h>

#include "base/rng.h"

using namespace berth;
using codec::format_time;
using codec::parse_time;

TEST_CASE("times are written in UTC with milliseconds") {
    CHECK(format_time(base::at_ms(0)) == "1970-01-01T00:00:00.000Z");
    CHECK(format_time(base::at_ms(-1)) == "1969-12-31T23:59:59.999Z");
    CHECK(format_time(base::at_ms(1'709'210'096'007)) == "2024-02-29T12:34:56.007Z");
    CHECK(format_time(base::at_ms(INT64_MAX)) == "9999-12-31T23:59:59.999Z");
    CHECK(format_time(base::at_ms(INT64_MIN)) == "0000-01-01T00:00:00.000Z");
}

TEST_CASE("every form that RFC 3339 allows is read") {
    CHECK(parse_time("1970-01-01T00:00:01Z") == base::at_ms(1000));
    CHECK(parse_time("1970-01-01t01:00:00.5+01:00") == base::at_ms(500));
    CHECK(parse_time("1969-12-31 22:30:00.1239-01:30") == base::at_ms(123));
    for (const char* text : {"", "now", "1970-01-01", "1970-01-01T00:00:00", "1970-13-01T00:00:00Z",
                             "1970-02-30T00:00:00Z", "1970-01-01T24:00:00Z", "1970-01-01T00:00Z",
                             "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00Zx",
                             "1970-01-01T00:00:00+24:00", "1970-1-1T00:00:00Z"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_time(text).has_value());
    }
}

TEST_CASE("a time beyond the years that can be written is refused, by its offset as well") {
    CHECK(parse_time("9999-12-31T23:59:59+23:59").has_value());
    CHECK_FALSE(parse_time("9999-12-31T23:59:59-23:59").has_value());
    CHECK_FALSE(parse_time("0000-01-01T00:00:00+00:01").has_value());
}

TEST_CASE("a written time is read as the same time") {
    base::Rng rng(9);
    for (int round = 0; round < 20'000; ++round) {
        const auto time = base::at_ms(rng.between(-62'167'219'200'000, 253'402'300'799'999));
        REQUIRE(parse_time(format_time(time)) == time);
    }
}
