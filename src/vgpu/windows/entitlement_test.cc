// SPDX-License-Identifier: Apache-2.0
#include "vgpu/windows/entitlement.h"

#include <doctest/doctest.h>

using namespace berth::vgpu::windows;
using Parts = std::vector<std::int64_t>;

TEST_CASE("shares come first, the rest by weight") {
    CHECK(entitlements({{300, 1000, 1, 0}, {300, 1000, 3, 0}}) == Parts{400'000, 600'000});
}

TEST_CASE("without shares weights alone decide, to the last millionth") {
    CHECK(entitlements({{}, {}, {}}) == Parts{333'334, 333'333, 333'333});
}

TEST_CASE("a cap passes the rest on, to lower priorities as well") {
    CHECK(entitlements({{100, 200, 5, 1}, {100, 1000, 1, 0}}) == Parts{200'000, 800'000});
    CHECK(entitlements({{0, 300, 1, 0}, {0, 300, 1, 0}}) == Parts{300'000, 300'000});
}

TEST_CASE("the highest priority takes what is left") {
    CHECK(entitlements({{100, 1000, 1, 2}, {300, 1000, 9, 1}}) == Parts{700'000, 300'000});
}

TEST_CASE("shares of more than a GPU shrink alike") {
    CHECK(entitlements({{900, 1000, 1, 0}, {600, 1000, 1, 5}}) == Parts{600'000, 400'000});
}

TEST_CASE("without tenants there is no entitlement") { CHECK(entitlements({}).empty()); }
