// SPDX-License-Identifier: Apache-2.0
#include "cli/ledger/ledger_page.h"

#include <doctest/doctest.h>

#include <string>

#include "cli/ledger/efficiency_page.h"
#include "cli/terminal/style.h"

using namespace berth;
using cli::efficiency_page;
using cli::ledger_page;

namespace {

constexpr std::int64_t kGpuHour = INT64_C(3600) * 1000 * 1000;

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

codec::JobView ended_job() {
    codec::JobView job;
    job.id = {7};
    job.spec.name = "train";
    job.state = model::JobState::Succeeded;
    job.attempts = 2;
    return job;
}

}  // namespace

TEST_CASE("a report is a sentence, every use, who had it, and that it sums to capacity") {
    const auto page = ledger_page(
        R"({"from":"2026-11-21","to":"2026-11-27","by":"project",
            "sentences":[{"about":"use","text":"Of 82.0 GPU hours 61 % ran jobs."},
                         {"about":"waste","text":"6 % were free."}],
            "savings":[{"use":"lost_to_pause","gpu_seconds":7199.5,"gpu_seconds_a_week":3600,
                        "act":"save more often","job":7,"name":"train","others":2,"user":"ana",
                        "pool":""},
                       {"use":"blocked_by_room","gpu_seconds_a_week":18000,"act":"fit","job":null,
                        "others":0,"pool":"default"}],
            "other_savings_a_week":1800,"rows":[
            {"name":"","gpu_seconds":{"free":90000,"blocked_by_room":18000},"sum":108000},
            {"name":"vision","gpu_seconds":{"not_measured":180000.5,"lost_to_pause":7199.5}}],
            "total":{"name":"","gpu_seconds":{"not_measured":180000.5,"lost_to_pause":7199.5,
                     "free":90000,"blocked_by_room":18000}},
            "capacity":295200,"unpriced":[]})",
        {.width = 80});
    REQUIRE(page.has_value());
    CHECK(*page ==
          "Of 82.0 GPU hours 61 % ran jobs. 6 % were free.\n"
          "\n"
          "USE              GPU H  PART  WHAT IT IS\n"
          "not measured      50.0  61 %  jobs had them; how busy is not known\n"
          "lost to pause      2.0   2 %  work since the last save, lost by pauses\n"
          "blocked by room    5.0   6 %  free, too few for the smallest that waits\n"
          "free              25.0  30 %  no job waited for them\n"
          "\n"
          "PROJECT  GPU H  PART  BUSY  UNKNOWN  IDLE  MOVING  LOST\n"
          "vision    52.0  63 %   0.0     50.0   0.0     0.0   2.0\n"
          "no job    30.0  37 %     -        -     -       -     -\n"
          "\n"
          "What would save most, in GPU hours a week at most:\n"
          "  1.0         train and 2 others of ana, lost to pause: save more often\n"
          "  5.0         pool default, blocked by room: fit\n"
          "  0.5         others\n"
          "\n"
          "Sums to capacity, exactly: 82.0 of 82.0 GPU hours.\n");
}

TEST_CASE("what does not sum to capacity says so, and a model without a price is named") {
    const auto page = ledger_page(
        R"({"from":"2026-11-27","to":"2026-11-27","by":"gpu","rows":[
            {"name":"K80","gpu_seconds":{"free":90000},"cost":"0"}],
            "total":{"gpu_seconds":{"free":90000},"cost":"0"},
            "capacity":90001,"unpriced":["K80"]})",
        {.width = 80});
    REQUIRE(page.has_value());
    CHECK(has(*page, "Does not sum to capacity: "));
    CHECK(has(*page, "No price is set for K80;"));
    CHECK(has(*page, "COST"));
    CHECK_FALSE(ledger_page("[]", {}).has_value());
}

TEST_CASE("a job that used little of its part of a GPU gets the advice to ask for less") {
    codec::JobView job = ended_job();
    job.spec.request.share = base::MilliGpu{500};
    job.milli_gpu_ms.busy = 20 * kGpuHour;
    job.milli_gpu_ms.allocated_idle = 80 * kGpuHour;
    const std::string page = efficiency_page(job, {}, {.width = 80});
    CHECK(page.starts_with("train has had 100.0 GPU hours; 20 % of what was measured was work.\n"));
    CHECK(has(page, "next time   -g 0.15 is time enough"));  // 0.1 and a tenth
    CHECK_FALSE(has(page, "save more often"));
}

TEST_CASE("where most was not measured idle time is no reason to ask for less") {
    codec::JobView job = ended_job();
    job.spec.kind = model::JobKind::Build;
    job.milli_gpu_ms.not_measured = 5 * kGpuHour;
    job.milli_gpu_ms.allocated_idle = 4 * kGpuHour;  // it had ended while no server was there
    const std::string page = efficiency_page(job, {}, {.width = 80});
    CHECK(has(page, "how busy they were is not known"));
    CHECK(has(page, "nothing that was measured says to ask for something else"));
    job.milli_gpu_ms.not_measured = 3 * kGpuHour;
    CHECK(has(efficiency_page(job, {}, {.width = 80}), "-g 0.05 is time enough"));
}

TEST_CASE("a job that ended before there was a ledger is not on record") {
    codec::JobView job = ended_job();
    job.attained_gpu_ms = 1000;
    CHECK(efficiency_page(job, {}, {}) ==
          "train had GPUs before there was a ledger: what they did is not on record.\n");
}

TEST_CASE("a job that lost work gets the advice to save; without evidence there is no advice") {
    codec::JobView job = ended_job();
    job.milli_gpu_ms.not_measured = 90 * kGpuHour;
    CHECK(has(efficiency_page(job, {}, {.width = 80}),
              "nothing that was measured says to ask for something else"));
    job.milli_gpu_ms.lost_to_failure = 10 * kGpuHour;
    const std::string page = efficiency_page(job, {}, {.width = 80});
    CHECK(page.starts_with(
        "train has had 100.0 GPU hours; how busy they were is not known, 10 % was lost.\n"));
    CHECK(has(page, "next time   save more often (at most 10.0 GPU hours lost to failure)"));
    CHECK(efficiency_page(ended_job(), {}, {}) == "train has had no GPU yet.\n");
}
