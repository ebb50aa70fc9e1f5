// SPDX-License-Identifier: Apache-2.0
//
// Is every form of a moment, a duration and GPUs read as it is meant, and nothing else?
#include "simulation/trace_cells.h"

#include <doctest/doctest.h>

namespace berth::simulation {
namespace {

constexpr std::int64_t kNone = -1;
constexpr std::int64_t kHourMs = 3'600'000;

std::int64_t moment(std::string_view text, TraceUnit unit = TraceUnit::Seconds) {
    return moment_of(text, unit).value_or(kNone);
}
std::int64_t duration(std::string_view text, TraceUnit unit = TraceUnit::Seconds) {
    return duration_of(text, unit).value_or(kNone);
}
std::int64_t milli_gpus(std::string_view text) {
    const auto gpus = gpus_of(text);
    return gpus ? gpus->value : kNone;
}

}  // namespace

TEST_CASE("a moment is seconds, or a date of ISO 8601 with or without time and zone") {
    constexpr std::int64_t kMay = 1'714'521'600'000;  // 2024-05-01 in UTC
    CHECK(moment("1714521600") == kMay);
    CHECK(moment("0.0015") == 1);
    CHECK(moment("2500", TraceUnit::Milliseconds) == 2000);
    CHECK(moment("2024-05-01") == kMay);
    CHECK(moment("2024-05-01T10:00") == kMay + 10 * kHourMs);
    CHECK(moment("2024-05-01 10:00:30") == kMay + 10 * kHourMs + 30'000);
    CHECK(moment("2024-05-01T10:00:30.25Z") == kMay + 10 * kHourMs + 30'250);
    CHECK(moment("2024-05-01T10:00:30.123456789") == kMay + 10 * kHourMs + 30'123);
    CHECK(moment("2024-05-01T10:00:00+02:00") == kMay + 8 * kHourMs);
    CHECK(moment("2024-05-01T10:00:00 -0530") == kMay + 15 * kHourMs + kHourMs / 2);
    CHECK(moment("2024-05-01T10:00:00+02") == kMay + 8 * kHourMs);
    CHECK(moment("2024-02-29") > 0);
    for (const std::string_view wrong :
         {"", "-5", "inf", "2023-02-29", "2024-5-1", "2024-05-01T", "2024-05-01T10",
          "2024-05-01T25:00", "2024-05-01T10:61", "2024-05-01T10:00:00X", "2024-05-01T10:00:00+2",
          "2024-05-01T10:00:00.", "2024/05/01", "100000000000"}) {
        INFO(wrong);
        CHECK(moment(wrong) == kNone);
    }
}

TEST_CASE("a duration is seconds, a time as Slurm writes it, or with units") {
    CHECK(duration("66.5") == 66'500);
    CHECK(duration("0.0001") == 1);
    CHECK(duration("2001", TraceUnit::Milliseconds) == 3000);
    CHECK(duration("02:03:04") == 2 * kHourMs + 184'000);
    CHECK(duration("1-02:03:04") == 26 * kHourMs + 184'000);
    CHECK(duration("03:04") == 184'000);
    CHECK(duration("100:00:00") == 100 * kHourMs);
    CHECK(duration("00:00:01.500") == 1500);
    CHECK(duration("1h30m") == kHourMs * 3 / 2);
    CHECK(duration("1e9") == 1'000'000'000'000);
    for (const std::string_view wrong : {"", "-1", "nan", "1:60", "1:2:3:4", "1-", "-01:00", "1-5",
                                         ":5", "1:", "1e10", "999999999-00:00:00", "x"}) {
        INFO(wrong);
        CHECK(duration(wrong) == kNone);
    }
}

TEST_CASE("GPUs are a number, or what Slurm lists of them") {
    CHECK(milli_gpus("4") == 4000);
    CHECK(milli_gpus("4.0") == 4000);
    CHECK(milli_gpus("0.5") == 500);
    CHECK(milli_gpus("0.3333333") == 333);
    CHECK(milli_gpus("0.0001") == 1);
    CHECK(milli_gpus("0") == 0);
    CHECK(milli_gpus("gres/gpu=4") == 4000);
    CHECK(milli_gpus("billing=8,cpu=8,gres/gpu=2,mem=4G,node=1") == 2000);
    CHECK(milli_gpus("gres/gpu:a100=2,gres/gpu=3,gres/gpu:t4=1") == 3000);
    CHECK(milli_gpus("gres/gpu:a100=2,gres/gpu:t4=1") == 3000);
    CHECK(milli_gpus("gpu:a100:4(S:0-1)") == 4000);
    CHECK(milli_gpus("gpu:2") == 2000);
    CHECK(milli_gpus("gres:gpu:2") == 2000);
    CHECK(milli_gpus("gpu:a100") == 1000);
    CHECK(milli_gpus("gpu") == 1000);
    // GPUs are not their memory, and a job of processors has none.
    CHECK(milli_gpus("cpu=8,gres/gpumem=40G,gres/gpuutil=90") == 0);
    CHECK(milli_gpus("cpu=8,mem=4G") == 0);
    for (const std::string_view wrong : {"", "x", "-1", "1e7", "two"}) {
        INFO(wrong);
        CHECK(milli_gpus(wrong) == kNone);
    }
}

}  // namespace berth::simulation
