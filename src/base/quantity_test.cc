// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.h"

#include <doctest/doctest.h>

using namespace berth::base;

TEST_CASE("every hundredth of a GPU survives text and back, without a double in between") {
    for (std::int64_t amount = 0; amount <= 16'000; ++amount) {
        CHECK(parse_thousandths(format_thousandths(amount)).value() == amount);
    }
}

TEST_CASE("numbers that are not amounts are refused") {
    for (const char* text : {"", ".", "-1", "1.", "1.2345", "1e3", "0x1", " 1", "1 ", "1.2.3",
                             "99999999999999999999", "abc"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_thousandths(text).has_value());
    }
}

TEST_CASE("memory is read in binary units and written shortest") {
    CHECK(parse_bytes("80G")->value == 80LL << 30);
    CHECK(parse_bytes("80GiB").has_value() == false);
    CHECK(parse_bytes("80Gi")->value == 80LL << 30);
    CHECK(parse_bytes("1.5K")->value == 1536);
    CHECK(parse_bytes("17")->value == 17);
    CHECK(parse_bytes("9223372036854775807")->value == INT64_MAX);
    CHECK_FALSE(parse_bytes("9223372036854775808").has_value());
    CHECK_FALSE(parse_bytes("-1").has_value());
    CHECK_FALSE(parse_bytes("9223372036854775807G").has_value());
    CHECK(format(Bytes{99'999'999'999'999'999}) == "90949.4T");
    CHECK(parse_bytes("90949.4T").has_value());  // what is printed is read
    CHECK(format(Bytes{INT64_MAX}) == "8388607T");
    CHECK(parse_bytes("8388607.999T").has_value());
    CHECK_FALSE(parse_bytes("8388608.5T").has_value());
    CHECK_FALSE(parse_bytes("G").has_value());
    CHECK(format(Bytes{80LL << 30}) == "80G");
    CHECK(format(Bytes{1536}) == "1.5K");
}

TEST_CASE("times are read as sums of units and written with at most two") {
    CHECK(parse_duration("1h30m")->count() == 5'400'000);
    CHECK(parse_duration("250ms")->count() == 250);
    CHECK(parse_duration("25765337848ms")->count() == 25'765'337'848);  // GPU time sums up
    CHECK(parse_duration("104000d")->count() == 104'000 * INT64_C(86'400'000));
    CHECK(parse_duration("0")->count() == 0);
    CHECK_FALSE(parse_duration("104000d104000d").has_value());  // format() could not write it
    for (const char* text :
         {"", "5", "m", "5x", "1h30", "9000000000000000s", "99999999999999999999s"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_duration(text).has_value());
    }
    CHECK(format(Duration{0}) == "0s");
    CHECK(format(Duration{90'000}) == "1m30s");
    CHECK(format(Duration{(26 * 3600 + 60) * 1000}) == "1d2h");
    CHECK(format(Duration{3'600'500}) == "1h");
}
