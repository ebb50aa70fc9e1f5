// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/standing.h"

#include <doctest/doctest.h>

using namespace berth;
using adapters::sqlite::check_standing;
using adapters::sqlite::HighMark;
using adapters::sqlite::LogEnd;

namespace {

const LogEnd kLog{{"a"}, 40, {12}};

// Empty when the log is taken.
std::string refusal(const LogEnd& log, const std::optional<HighMark>& high, std::int64_t used) {
    const base::Status status = check_standing(log, high, {used}, "/d/berth.db");
    return status ? "" : status.error().message;
}

const std::string kWaysOut =
    "; restore the newest backup (berth restore FILE), or go on from this log (berth up "
    "--accept-older-log)";

}  // namespace

TEST_CASE("a new directory, and a log of before there was a mark, are fine") {
    CHECK(refusal({}, {}, 0) == "");
    CHECK(refusal({{}, 40, {12}}, {}, 12) == "");
    CHECK(refusal({}, HighMark{"", 0, {0}}, 0) == "");
}

TEST_CASE("a mark that lags behind its log means nothing") {
    CHECK(refusal(kLog, HighMark{"a", 40, {12}}, 12) == "");
    CHECK(refusal(kLog, HighMark{"a", 3, {1}}, 12) == "");
    CHECK(refusal(kLog, HighMark{"", 0, {0}}, 0) == "");
    CHECK(refusal({{"a", "b"}, 41, {60}}, HighMark{"a", 97, {57}}, 57) == "");  // begun anew
}

TEST_CASE("a log behind its mark is refused with both numbers and the ways out") {
    CHECK(refusal(kLog, HighMark{"a", 97, {57}}, 57) ==
          "the log \"/d/berth.db\" is not the newest: it ends at event 40 and job 12, and this "
          "directory has come to event 97 and job 57" +
              kWaysOut);
    CHECK(refusal(kLog, HighMark{"a", 41, {12}}, 12) != "");
}

TEST_CASE("an empty log beside a mark or beside files of jobs is refused") {
    CHECK(refusal({}, HighMark{"a", 97, {57}}, 57) ==
          "the log \"/d/berth.db\" is empty: it ends at event 0 and job 0, and this directory has "
          "come to event 97 and job 57 with another log" +
              kWaysOut);
    CHECK(refusal({}, {}, 3) ==
          "the log \"/d/berth.db\" is empty: it ends at event 0 and job 0, and this directory has "
          "files of job 3" +
              kWaysOut);
}

TEST_CASE("a log of another incarnation is refused, however long it is") {
    CHECK(refusal({{"b"}, 400, {90}}, HighMark{"a", 97, {57}}, 57) != "");
    CHECK(refusal({{}, 400, {90}}, HighMark{"a", 97, {57}}, 57) != "");
    CHECK(refusal({{"a", "b"}, 41, {50}}, HighMark{"a", 97, {57}}, 12) != "");
}

TEST_CASE("a log without its mark, or behind the files of its jobs, is refused") {
    CHECK(refusal(kLog, {}, 0) ==
          "the log \"/d/berth.db\" is not the newest: it ends at event 40 and job 12, and the file "
          "\"high\" that tells how far this directory has come is not there, as beside a copy" +
              kWaysOut);
    CHECK(refusal(kLog, HighMark{"a", 40, {12}}, 13) != "");
}
