// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/talk/allowance.h"

#include <doctest/doctest.h>

using berth::vgpu::arbiter::Allowance;

namespace {

constexpr std::int64_t kMs = 1'000'000;

int taken(Allowance& allowance, std::int64_t now, int tries) {
    int count = 0;
    while (tries-- > 0) count += allowance.take(now);
    return count;
}

}  // namespace

TEST_CASE("the allowed number is heard at once, and again after a silence") {
    Allowance allowance(kMs / 10, 200);
    CHECK(taken(allowance, 1000 * kMs, 200) == 200);
    CHECK(taken(allowance, 2000 * kMs, 201) == 200);
}

TEST_CASE("who says no more than that on average never rests") {
    Allowance allowance(kMs / 10, 200);
    for (std::int64_t now = 0; now < 1000 * kMs; now += kMs / 10) CHECK(allowance.take(now));
}

TEST_CASE("who talks without end and rests each time is heard as often as that") {
    Allowance allowance(kMs / 10, 200);
    int heard = 0;
    for (std::int64_t now = 0; now < 1000 * kMs; now += kMs) {
        ++heard;  // the one that is too many
        while (allowance.take(now)) ++heard;
    }
    CHECK(heard >= 10'000);
    CHECK(heard <= 10'000 + 201);
}
