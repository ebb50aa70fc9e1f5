// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/tenants/time_used.h"

#include <doctest/doctest.h>

#include <memory>

#include "vgpu/ledger/busy.h"

using namespace berth::vgpu;
using arbiter::TimeUsed;

namespace {

constexpr std::int64_t kMilli = 1'000'000;

// A tenant of two processes on one GPU, and what its arbiter sees of them.
struct Watched {
    std::unique_ptr<ledger::Line> line = std::make_unique<ledger::Line>();
    ledger::GpuTerms terms{};
    std::vector<bool> taken = std::vector<bool>(ledger::kSlotsMax);
    TimeUsed time;

    Watched() {
        terms.slots_end = 2;
        taken[0] = taken[1] = true;
        terms.gate = static_cast<std::uint32_t>(ledger::Gate::granted);
    }
    ledger::Place process(std::uint32_t slot) const { return {line.get(), &terms, slot}; }
    void close() { terms.gate = static_cast<std::uint32_t>(ledger::Gate::closed); }
    windows::Sight look(std::int64_t now) { return time.look(process(0), taken, now); }
};

}  // namespace

TEST_CASE("two processes at work at once are charged the time that has passed, while they work") {
    Watched tenant;
    tenant.look(kMilli);
    ledger::begin_busy(tenant.process(0), 2 * kMilli);
    ledger::begin_busy(tenant.process(1), 3 * kMilli);
    const windows::Sight within = tenant.look(5 * kMilli);
    CHECK(within.used_ns == 3 * kMilli);
    CHECK(within.in_flight);
    ledger::end_busy(tenant.process(0), 6 * kMilli);
    ledger::end_busy(tenant.process(1), 9 * kMilli);
    const windows::Sight after = tenant.look(10 * kMilli);
    CHECK(after.used_ns == 4 * kMilli);
    CHECK(!after.in_flight);
}

TEST_CASE("no more is charged than the time of an open gate and of work still under way") {
    Watched tenant;
    tenant.look(kMilli);
    ledger::begin_busy(tenant.process(0), kMilli);
    tenant.look(3 * kMilli);
    tenant.close();
    CHECK(tenant.look(5 * kMilli).used_ns == 2 * kMilli);
    ledger::end_busy(tenant.process(0), 6 * kMilli);
    CHECK(tenant.look(7 * kMilli).used_ns == kMilli);
    const std::int64_t spare = kMilli;  // of the last look, in which it had work until 6
    tenant.line->slots[1].busy_ns = UINT64_MAX / 2;
    CHECK(tenant.look(1000 * kMilli).used_ns == spare);
    tenant.line->slots[1].busy_ns = UINT64_MAX;
    CHECK(tenant.look(2000 * kMilli).used_ns == 0);
}

TEST_CASE("a new process pays nothing for who had its slot before") {
    Watched tenant;
    tenant.look(kMilli);
    ledger::begin_busy(tenant.process(1), kMilli);
    ledger::end_busy(tenant.process(1), 5 * kMilli);
    tenant.time.begin(1, tenant.line->slots[1]);
    CHECK(tenant.look(9 * kMilli).used_ns == 0);
}

TEST_CASE("the part of the time that was used lately is that of seconds in which it was gated") {
    Watched tenant;
    constexpr std::int64_t kSecond = 1000 * kMilli;
    std::int64_t now = kMilli;
    // For a tenth of a second each, one part in four at work.
    const auto work = [&](std::int64_t ns) {
        for (const std::int64_t end = now + ns; now < end;) {
            tenant.look(now);
            ledger::begin_busy(tenant.process(0), now);
            ledger::end_busy(tenant.process(0), now + 25 * kMilli);
            now += 100 * kMilli;
        }
        tenant.look(now);
    };
    work(kSecond / 2);
    CHECK(!tenant.time.lately());
    work(kSecond);
    REQUIRE(tenant.time.lately());
    CHECK(*tenant.time.lately() == doctest::Approx(250).epsilon(0.05));
    tenant.look(now += 2 * kSecond);
    tenant.look(now += 2 * kSecond);
    CHECK(tenant.time.lately() == 0);
    tenant.terms.gate = static_cast<std::uint32_t>(ledger::Gate::open);
    work(3 * kSecond);
    CHECK(!tenant.time.lately());
}
