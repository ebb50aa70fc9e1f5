// SPDX-License-Identifier: Apache-2.0
#include "ledger/savings.h"

#include <doctest/doctest.h>

#include <deque>
#include <string>
#include <vector>

#include "ledger/sentences.h"

using namespace berth;
using ledger::Saving;
using model::GpuTimes;
using model::GpuUse;

namespace {

constexpr std::int64_t kHour = INT64_C(3600) * 1000 * 1000;  // of a GPU
constexpr std::int64_t kToday = 20'000;
constexpr ledger::Days kWeek{kToday - 6, kToday};

// What a cluster did, in GPU hours.
class Weeks {
  public:
    void used(GpuUse use, std::int64_t hours, std::string project = "", std::string user = "",
              std::int64_t day = kToday) {
        model::LedgerRow row{day, {"default", "H100", std::move(project), std::move(user)}, {}};
        row.times[use] = hours * kHour;
        book.rows.push_back(row);
    }
    enum class Lies { Within, Longer };
    model::JobRecord& job(std::string name, std::string project, std::string user, GpuTimes hours,
                          Lies lies = Lies::Within) {
        model::JobRecord& job = records.emplace_back();
        job.id = {static_cast<model::JobId::Rep>(records.size())};
        job.spec.name = std::move(name);
        job.spec.project = std::move(project);
        job.user = std::move(user);
        GpuTimes times;
        for (const GpuUse use : model::kGpuUses) times[use] = hours[use] * kHour;
        accounts.push_back({&job, times, lies == Lies::Within});
        return job;
    }
    ledger::Savings savings() const { return ledger::savings(book, kWeek, accounts); }
    std::vector<std::string> most() const {
        std::vector<std::string> lines;
        for (const Saving& saving : savings().most) {
            lines.push_back(std::to_string(saving.gpu_time / kHour) + " " +
                            (saving.job.is_valid() ? saving.name : saving.pool) +
                            (saving.others > 0 ? " +" + std::to_string(saving.others) : "") + ": " +
                            saving.act);
        }
        return lines;
    }
    std::string said(const ledger::Days& days = kWeek) const {
        GpuTimes total;
        for (const model::LedgerRow& row : book.rows) total += row.times;
        std::string text;
        for (const auto& sentence : ledger::sentences(total, savings(), days, kToday)) {
            text += (text.empty() ? "" : " ") + sentence.text;
        }
        return text;
    }

    model::LedgerBook book;
    std::deque<model::JobRecord> records;
    std::vector<ledger::JobAccount> accounts;
};

using Lines = std::vector<std::string>;

constexpr const char* kPark = "--park-after 30m gives its GPUs back while it does nothing";
constexpr const char* kSave = "save on SIGTERM, or more often";

}  // namespace

TEST_CASE("what was, and the largest waste with the job that has most of it") {
    Weeks weeks;
    weeks.used(GpuUse::Busy, 820, "nlp", "bob");
    weeks.used(GpuUse::AllocatedIdle, 242, "vision", "ana");
    weeks.used(GpuUse::Free, 282);
    model::JobRecord& jupyter =
        weeks.job("jupyter", "vision", "ana", {.busy = 260, .allocated_idle = 242});
    jupyter.spec.kind = model::JobKind::Build;
    jupyter.spec.request.gpus = 2;
    CHECK(weeks.said() ==
          "Of 1,344 GPU hours in the last 7 days 61 % were busy and 21 % were free. "
          "18 % were allocated but idle, most of it jupyter of ana.");
    CHECK(weeks.most() == Lines{"242 jupyter: " + std::string(kPark)});
    CHECK(weeks.savings().most[0].command == "berth eff 1");
}

TEST_CASE("a cluster that no job has used says so, as does one without a record") {
    Weeks weeks;
    CHECK(weeks.said() == "No GPU time is on record in the last 7 days.");
    weeks.used(GpuUse::Free, 5);
    CHECK(weeks.said({kToday, kToday}) ==
          "No job asked for a GPU: 300 GPU minutes today (UTC) were free.");
    CHECK(weeks.savings().wasted == 0);
}

TEST_CASE("where nothing is wasted that is said, and no saving is made up") {
    Weeks weeks;
    weeks.used(GpuUse::Busy, 12, "nlp", "bob");
    weeks.job("train", "nlp", "bob", {.busy = 12});
    CHECK(weeks.said({1, 2}) ==
          "Of 12.0 GPU hours from 1970-01-02 to 1970-01-03 100 % were busy. Nothing was wasted.");
    CHECK(weeks.most().empty());
    weeks.used(GpuUse::NotMeasured, 12, "nlp", "bob");
    CHECK(
        weeks.said({1, 1}) ==
        "Of 24.0 GPU hours on 1970-01-02 100 % were busy or not measured. No waste was measured.");
}

TEST_CASE("a part below one percent is not worth a word") {
    Weeks weeks;
    weeks.used(GpuUse::Busy, 996, "nlp", "bob");
    weeks.used(GpuUse::Free, 4);
    CHECK(weeks.said() ==
          "Of 1,000 GPU hours in the last 7 days >99 % were busy. Nothing was wasted.");
}

TEST_CASE("savings sum to no more than was wasted in these days, however long jobs live") {
    Weeks weeks;
    weeks.used(GpuUse::LostToPause, 10, "nlp", "bob");
    weeks.used(GpuUse::LostToPause, 90, "nlp", "bob", kToday - 7);  // before these days
    weeks.job("short", "nlp", "bob", {.busy = 1, .lost_to_pause = 4});
    weeks.job("long", "nlp", "bob", {.busy = 1, .lost_to_pause = 70}, Weeks::Lies::Longer);
    weeks.job("longer", "nlp", "bob", {.busy = 1, .lost_to_pause = 80}, Weeks::Lies::Longer);
    CHECK(weeks.most() ==
          Lines{"6 longer +1: " + std::string(kSave), "4 short: " + std::string(kSave)});
    CHECK(weeks.savings().wasted == 10 * kHour);
}

TEST_CASE("another user's job, and idle time that no act is known for, are no saving") {
    Weeks weeks;
    weeks.used(GpuUse::AllocatedIdle, 10, "nlp", "bob");
    weeks.job("of ana", "nlp", "ana", {.busy = 5, .allocated_idle = 10});
    // Idle before it was parked: nothing was measured of its work.
    weeks.job("parked", "nlp", "bob", {.allocated_idle = 10, .not_measured = 20});
    CHECK(weeks.most().empty());
    CHECK(weeks.said() ==
          "Of 10.0 GPU hours in the last 7 days 0 % were busy. 100 % were allocated but idle.");
}

TEST_CASE("a smaller part of a GPU gets back what it is smaller by, not all idle time") {
    Weeks weeks;
    weeks.used(GpuUse::AllocatedIdle, 80, "nlp", "bob");
    model::JobRecord& job = weeks.job("half", "nlp", "bob", {.busy = 20, .allocated_idle = 80});
    job.spec.request.gpus = 1;
    job.spec.request.share = base::MilliGpu{500};
    REQUIRE(weeks.most().size() == 1);
    CHECK(weeks.most()[0].starts_with("70 half: -g 0.15 is time enough"));
}

TEST_CASE("who did nothing at all comes first") {
    Weeks weeks;
    weeks.used(GpuUse::AllocatedIdle, 150, "nlp", "bob");
    weeks.job("idle", "nlp", "bob", {.allocated_idle = 100}).spec.request.gpus = 4;
    weeks.job("half", "nlp", "bob", {.busy = 50, .allocated_idle = 50}).spec.request.gpus = 4;
    REQUIRE(weeks.most().size() == 2);
    CHECK(weeks.most()[0].starts_with("100 idle: its GPUs waited for 100 % of the time"));
}

TEST_CASE("who leaves less than a fifth of a GPU idle is not said to share it") {
    for (const std::int64_t busy : {70, 80}) {
        CAPTURE(busy);
        Weeks weeks;
        weeks.used(GpuUse::AllocatedIdle, 100 - busy, "nlp", "bob");
        model::JobRecord& job =
            weeks.job("whole", "nlp", "bob", {.busy = busy, .allocated_idle = 100 - busy});
        job.spec.request.gpus = 1;
        CHECK(weeks.most().size() == (busy == 70 ? 1 : 0));
    }
}

TEST_CASE("jobs with several GPUs that wait for their data are said to") {
    Weeks weeks;
    weeks.used(GpuUse::AllocatedIdle, 60, "nlp", "bob");
    model::JobRecord& job = weeks.job("wide", "nlp", "bob", {.busy = 40, .allocated_idle = 60});
    job.spec.request.gpus = 8;
    REQUIRE(weeks.most().size() == 1);
    CHECK(weeks.most()[0] ==
          "60 wide: its GPUs waited for 60 % of the time: look at what feeds them (data, CPUs), or "
          "ask for fewer");
}

TEST_CASE("GPUs that were free while jobs waited are a saving of their pool") {
    Weeks weeks;
    weeks.used(GpuUse::BlockedByRoom, 30);
    weeks.used(GpuUse::BlockedByRules, 20);
    weeks.used(GpuUse::NotMeasured, 50, "nlp", "bob");
    CHECK(weeks.most().size() == 2);
    CHECK(weeks.savings().most[0].pool == "default");
    CHECK(weeks.said() ==
          "Of 100 GPU hours in the last 7 days 50 % were busy or not measured. 30 % were free, too "
          "few at once for jobs that waited.");
}

TEST_CASE("only the largest are listed, and what the others sum to") {
    Weeks weeks;
    weeks.used(GpuUse::LostToFailure, 55, "nlp", "bob");
    for (int hours = 1; hours <= 10; ++hours) {
        weeks.job("j", "nlp", "bob", {.lost_to_failure = hours});
    }
    CHECK(weeks.most().size() == ledger::kSavingsShown);
    CHECK(weeks.savings().others == (1 + 2) * kHour);
}

TEST_CASE("a week has its part of a longer time on record, and never more than there was") {
    Weeks weeks;
    for (int day = 0; day < 14; ++day) weeks.used(GpuUse::Free, 1, "", "", kToday - day);
    CHECK(ledger::in_a_week(10 * kHour, weeks.book, {kToday - 13, kToday}) == 5 * kHour);
    CHECK(ledger::in_a_week(10 * kHour, weeks.book, {kToday, kToday}) == 10 * kHour);
    CHECK(ledger::in_a_week(10 * kHour, {}, {kToday - 99, kToday}) == 10 * kHour);
}
