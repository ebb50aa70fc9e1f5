// SPDX-License-Identifier: Apache-2.0
#include "kube/client/caches/backoff.h"

#include <doctest/doctest.h>

#include <set>

using namespace berth;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("waits double up to their bound, half more or less, and begin again after a reset") {
    kube::client::Backoff backoff({milliseconds(800), seconds(30)}, 7);
    for (int round = 0; round < 2; ++round) {
        base::Duration centre = milliseconds(800);
        for (int i = 0; i < 12; ++i) {
            const base::Duration wait = backoff.next();
            CHECK(wait >= centre / 2);
            CHECK(wait <= centre + centre / 2);
            centre = std::min<base::Duration>(2 * centre, seconds(30));
        }
        backoff.reset();
    }
}

TEST_CASE("what the server asks is the least, and clients do not come back together") {
    std::set<base::Duration> waits;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        kube::client::Backoff backoff({milliseconds(100), seconds(5)}, seed);
        const base::Duration wait = backoff.next(seconds(3));
        CHECK(wait >= seconds(3));
        CHECK(wait <= seconds(4));
        waits.insert(wait);
    }
    CHECK(waits.size() > 10);
}
