// SPDX-License-Identifier: Apache-2.0
//
// Is every form of a moment, a duration and GPUs read as it is meant, and nothing else?
#include "simulation/trace/trace_cells.h"

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
    return gpus ? gpus->amount.value : kNone;
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
    CHECK(moment("2024-05-01T14:00:00+14:00") == kMay);
    CHECK(moment("2024-02-29") > 0);
    for (const std::string_view wrong :
         {"", "-5", "inf", "2023-02-29", "2024-5-1", "2024-05-01T", "2024-05-01T10",
          "2024-05-01T25:00", "2024-05-01T10:61", "2024-05-01T10:00:00X", "2024-05-01T10:00:00+2",
          "2024-05-01T10:00:00.", "2024-05-01T10:00:00+99:00", "2024-05-01T10:00:00+14:01",
          "2024-05-01T10:00:00+02:60", "2024/05/01", "100000000000"}) {
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
    CHECK(milli_gpus("0.9999") == 1000);
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
    CHECK(milli_gpus("gpu:2080:4") == 4000);
    CHECK(milli_gpus("gres/gpu=0") == 0);
    CHECK(milli_gpus("gpu:2,craynetwork:1") == 2000);
    CHECK(milli_gpus("GRES/GPU=2") == 2000);
    CHECK(milli_gpus("CPU=8,GRES/GPU:A100=2") == 2000);
    CHECK(milli_gpus("GPU=4") == 4000);
    CHECK(milli_gpus("gpus=4") == 4000);
    // As `berth submit -g` takes it.
    CHECK(milli_gpus("H100:2") == 2000);
    CHECK(milli_gpus("h100:0.5") == 500);
    // GPUs are not their memory, and a job of processors has none.
    CHECK(milli_gpus("cpu=8,gres/gpumem=40G,gres/gpuutil=90") == 0);
    CHECK(milli_gpus("cpu=8,mem=4G,license/abaqus=1,gres/shard=4") == 0);
    CHECK(milli_gpus("craynetwork:1") == 0);
    for (const std::string_view wrong :
         {"",      "x",        "-1",         "1e7",          "two",
          "1.5",   "4.0001",   "gres/gpu=x", "gres/gpu=-1",  "gpu=a100",
          "gpu=",  "gpu:",     "gpu:a100:x", "gpu:-1",       "gres/gpu=1=2",
          "H100:", "H100:two", "H100=2",     "02:03",        "H100:12G",
          "12G",   "4..16",    "foo=bar",    "H100:2,cpu=8", "gres/gpu=2,a100=4"}) {
        INFO(wrong);
        CHECK(milli_gpus(wrong) == kNone);
    }
}

TEST_CASE("a part of a GPU that is no whole number of thousandths is rounded, and said to be") {
    for (const std::string_view exact : {"0.57", "0.001", "0.999", "1", "4", "0", "0.29"}) {
        INFO(exact);
        CHECK_FALSE(gpus_of(exact)->is_rounded);
    }
    for (const std::string_view rounded : {"0.3333333", "0.0001", "0.9999"}) {
        INFO(rounded);
        CHECK(gpus_of(rounded)->is_rounded);
    }
}

}  // namespace berth::simulation
