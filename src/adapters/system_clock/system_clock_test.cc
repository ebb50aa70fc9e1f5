// SPDX-License-Identifier: Apache-2.0
#include "adapters/system_clock/system_clock.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>

using namespace berth;
using berth::system_clock::SystemClock;
using namespace std::chrono_literals;

TEST_CASE("it is the present") {
    const SystemClock clock;
    const std::int64_t seconds = base::to_ms(clock.now() + clock.date_shift()) / 1000;
    CHECK(seconds >= std::time(nullptr) - 2);
    CHECK(seconds <= std::time(nullptr) + 2);
}

TEST_CASE("the next clock goes on from what was kept, and dates are still the wall clock's") {
    const auto file =
        (std::filesystem::temp_directory_path() / ("berth-clock-" + std::to_string(::getpid())))
            .string();
    SystemClock first;
    first.not_before(first.now() + 24h);
    const base::TimePoint then = first.now();
    first.keep(file);
    SystemClock second;
    second.go_on_from(file);
    CHECK(second.now() >= then);
    CHECK(second.now() < then + 1h);
    const std::int64_t seconds = base::to_ms(second.now() + second.date_shift()) / 1000;
    CHECK(seconds >= std::time(nullptr) - 2);
    CHECK(seconds <= std::time(nullptr) + 2);
    std::filesystem::remove(file);
}
