// SPDX-License-Identifier: Apache-2.0
#include "cluster/jobs/past_use.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"

using namespace berth;
using berth::base::at_ms;
using berth::base::Duration;
using berth::base::gpus;
using berth::cluster::kUsagePeriod;
using berth::cluster::PastUse;

namespace {

constexpr Duration kForEver{INT64_C(1) << 55};

}  // namespace

TEST_CASE("use is what was held times how long, whatever the order in which it is reported") {
    base::Rng rng(7);
    for (int round = 0; round < 200; ++round) {
        struct Span {
            std::int64_t from, to, gpus;
        };
        std::vector<Span> spans;
        std::vector<std::pair<std::int64_t, std::int64_t>> changes;
        std::int64_t expected = 0;
        const std::int64_t now = 5 * kUsagePeriod.count();
        for (int i = 0; i < 6; ++i) {
            const std::int64_t from = rng.between(0, now);
            const Span span{from, rng.between(from, now), rng.between(1, 8)};
            expected += (span.to - span.from) * span.gpus;
            changes.emplace_back(span.from, span.gpus);
            changes.emplace_back(span.to, -span.gpus);
        }
        for (std::size_t i = changes.size(); i > 1; --i) {
            std::swap(changes[i - 1], changes[rng.index(i)]);
        }
        PastUse use;
        for (const auto& [time, amount] : changes) use.change(at_ms(time), gpus(amount));
        const std::int64_t found = use.decayed(at_ms(now), kForEver);
        CHECK(found <= expected);
        CHECK(found >= expected - expected / 100'000 - 1);
        CHECK(use.in_use == gpus(0));
    }
}

TEST_CASE("what lies one half-life back counts half, and what still runs counts up to now") {
    PastUse use;
    use.change(at_ms(0), gpus(4));
    use.change(at_ms(kUsagePeriod.count()), gpus(-4));
    const std::int64_t full = 4 * kUsagePeriod.count();
    const auto after = [&](int periods) {
        return use.decayed(at_ms(kUsagePeriod.count() * periods), kUsagePeriod * 4);
    };
    CHECK(after(0) == full);
    CHECK(std::abs(after(4) - full / 2) < full / 1'000'000);
    CHECK(std::abs(after(8) - full / 4) < full / 1'000'000);
    CHECK(after(4 * 32) == 0);
    use.change(at_ms(kUsagePeriod.count() * 8), gpus(2));
    CHECK(after(8) + 2 * 1000 ==
          use.decayed(at_ms(kUsagePeriod.count() * 8 + 1000), kUsagePeriod * 4));
}

TEST_CASE("the oldest periods are forgotten, and no more memory is used") {
    PastUse use;
    use.change(at_ms(0), gpus(1));
    use.change(at_ms(kUsagePeriod.count() * 500), gpus(-1));
    CHECK(use.milli_gpu_ms.size() == cluster::kUsagePeriodsMax);
    CHECK(use.first_period == 500 - static_cast<std::int64_t>(cluster::kUsagePeriodsMax));
}
