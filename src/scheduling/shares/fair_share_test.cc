// SPDX-License-Identifier: Apache-2.0
//
// Whole clusters are in tests/scenarios/fair_share; here is the division alone.
#include "scheduling/shares/fair_share.h"

#include <doctest/doctest.h>

#include <numeric>

#include "base/rng.h"

using namespace berth;
using berth::base::gpus;
using berth::base::MilliGpu;
using berth::scheduling::Claimant;
using berth::scheduling::divide;

namespace {

std::vector<std::int64_t> whole(MilliGpu total, std::vector<Claimant> siblings) {
    std::vector<std::int64_t> shares;
    for (const MilliGpu share : divide(total, siblings, 1000)) shares.push_back(share.value / 1000);
    return shares;
}

Claimant wants(std::int64_t request, std::int64_t quota, std::int64_t weight = 1) {
    Claimant claimant;
    claimant.request = gpus(request);
    claimant.quota = gpus(quota);
    claimant.weight = weight * 1000;
    return claimant;
}

using Shares = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("R1: the surplus goes by weight, whole GPUs, odd ones by remainder then age") {
    CHECK(whole(gpus(8), {wants(8, 2, 1), wants(8, 2, 3), wants(8, 2, 0)}) == Shares{3, 3, 2});
    CHECK(whole(gpus(8), {wants(3, 2), wants(8, 2), wants(1, 2)}) == Shares{3, 4, 1});
    CHECK(whole(gpus(10), {wants(10, 0), wants(10, 0), wants(10, 0)}) == Shares{4, 3, 3});
    CHECK(whole(gpus(7), {wants(10, 0, 1), wants(10, 0, 2)}) == Shares{2, 5});
}

TEST_CASE("R1: a higher priority takes what it wants of the surplus first") {
    std::vector<Claimant> siblings{wants(10, 2), wants(10, 2)};
    siblings[0].priority = 200;
    CHECK(whole(gpus(10), siblings) == Shares{8, 2});
}

TEST_CASE("R1: quotas above the pool are not scaled; a limit caps the share") {
    CHECK(whole(gpus(6), {wants(8, 4), wants(8, 4)}) == Shares{4, 4});
    std::vector<Claimant> siblings{wants(8, 2), wants(8, 2)};
    siblings[0].limit = gpus(3);
    CHECK(whole(gpus(8), siblings) == Shares{3, 5});
}

TEST_CASE("R1: past use leans the split away from who used more") {
    std::vector<Claimant> siblings{wants(16, 0), wants(16, 0)};
    siblings[0].usage_ppm = 500'000;
    siblings[1].usage_ppm = 250'000;
    CHECK(whole(gpus(16), siblings) == Shares{6, 10});
    siblings[0].usage_ppm = 750'000;
    CHECK(whole(gpus(16), siblings) == Shares{4, 12});
    siblings[0].usage_ppm = 1'000'000;
    siblings[1].usage_ppm = 0;
    CHECK(whole(gpus(16), siblings) == Shares{0, 16});
}

TEST_CASE("a fixed quota is set aside whole, used or not") {
    std::vector<Claimant> siblings{wants(0, 3), wants(8, 2)};
    siblings[0].is_fixed = true;
    CHECK(whole(gpus(8), siblings) == Shares{3, 5});
}

TEST_CASE("nothing is lost or invented: shares sum to the pool or to what is wanted") {
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        base::Rng rng(seed);
        std::vector<Claimant> siblings;
        MilliGpu requested{0};
        for (std::int64_t count = rng.between(1, 6); count > 0; --count) {
            Claimant claimant;
            claimant.request = {rng.between(0, 40) * 250};
            claimant.quota = gpus(rng.between(0, 2));
            claimant.weight = rng.between(1, 5) * 500;
            claimant.priority = static_cast<int>(rng.between(0, 1));
            requested += claimant.request;
            siblings.push_back(claimant);
        }
        const MilliGpu total = gpus(rng.between(12, 40));
        CAPTURE(seed);
        const auto shares = divide(total, siblings, 1000);
        MilliGpu given{0};
        for (std::size_t i = 0; i < shares.size(); ++i) {
            given += shares[i];
            CHECK(shares[i] <= siblings[i].request);
            CHECK(shares[i] >= std::min(siblings[i].quota, siblings[i].request));
        }
        CHECK(given == std::min(total, requested));
    }
}
