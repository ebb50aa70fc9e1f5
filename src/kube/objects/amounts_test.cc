// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/amounts.h"

#include <doctest/doctest.h>

#include <limits>

using namespace berth::kube::objects;

TEST_CASE("quantities are read as the API writes them, in thousandths") {
    CHECK(parse_quantity("0") == 0);
    CHECK(parse_quantity("2") == 2000);
    CHECK(parse_quantity("250m") == 250);
    CHECK(parse_quantity("1.5") == 1500);
    CHECK(parse_quantity(".5") == 500);
    CHECK(parse_quantity("1.5Gi") == 1536LL * 1024 * 1024 * 1000);
    CHECK(parse_quantity("1k") == 1'000'000);
    CHECK(parse_quantity("12e3") == 12'000'000);
    CHECK(parse_quantity("12E-3") == 12);
    CHECK(parse_quantity("1E+2") == 100'000);
    CHECK(parse_quantity("-3") == -3000);
    CHECK(parse_quantity("128974848000m") == 128'974'848'000);
}

TEST_CASE("what is finer than a thousandth is rounded away from zero") {
    CHECK(parse_quantity("1n") == 1);
    CHECK(parse_quantity("1001u") == 2);
    CHECK(parse_quantity("-1n") == -1);
    CHECK(parse_quantity("0n") == 0);
}

TEST_CASE("what does not fit is the largest that does") {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    CHECK(parse_quantity("1E") == kMost);  // exa
    CHECK(parse_quantity("9e99") == kMost);
    CHECK(parse_quantity("99999999999999999999999999999999") == kMost);
    CHECK(parse_quantity("1e-99") == 1);
}

TEST_CASE("what is no quantity is refused") {
    for (const char* text : {"", "m", "-", ".", "1x", "1mm", "1 ", "Ki", "1e", "1e1x", "--1"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_quantity(text).has_value());
    }
}

TEST_CASE("amounts stay sorted, add up and end at the largest number") {
    Pool<std::string> words;
    const Word cpu = words.keep("cpu");
    const Word gpu = words.keep("nvidia.com/gpu");
    Amounts left;
    left.set(gpu, 2);
    left.set(cpu, 500);
    Amounts right;
    right.set(cpu, 250);
    right.set(gpu, std::numeric_limits<std::int64_t>::max());
    CHECK(left.all().front().resource == cpu);
    CHECK(left.of("memory") == 0);

    Amounts sum = left;
    sum.add(right);
    CHECK(sum.cpu().value == 750);
    CHECK(sum.of("nvidia.com/gpu") == std::numeric_limits<std::int64_t>::max());
    left.raise_to(right);
    CHECK(left.cpu().value == 500);
}

TEST_CASE("equal values of a pool are one, and gone with their last user") {
    Pool<std::string> words;
    {
        const Word first = words.keep("a");
        Word second = words.keep(std::string("a"));
        CHECK(first == second);
        CHECK(words.size() == 1);
        second = words.keep("b");
        CHECK(words.size() == 2);
        CHECK(*second == "b");
        second = {};
        CHECK(words.size() == 1);
        CHECK(second->empty());
    }
    CHECK(words.size() == 0);
}
