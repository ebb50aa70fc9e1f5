// SPDX-License-Identifier: Apache-2.0
#include "overview/job_sentence.h"

#include <doctest/doctest.h>

using namespace berth;
using model::JobState;
using overview::Chance;

namespace {

constexpr base::TimePoint kNow = base::at_ms(INT64_C(1'000'000'000'000));
constexpr base::Duration kMinute{60'000};

model::JobRecord job(JobState state, int minutes_ago) {
    model::JobRecord record;
    record.spec.name = "tokenizer";
    record.state = state;
    record.created = kNow - 5 * 60 * kMinute;
    record.first_start = kNow - 4 * 60 * kMinute;
    record.waiting_since = kNow - minutes_ago * kMinute;
    record.last_start = kNow - minutes_ago * kMinute;
    if (model::is_final(state)) record.finished = kNow - minutes_ago * kMinute;
    return record;
}

model::Band in_minutes(int first, int expected, int last) {
    return {kNow + first * kMinute, kNow + expected * kMinute, kNow + last * kMinute};
}

// It waits until the first band and runs until the second.
std::vector<model::ExpectedSpan> expected(const model::Band& start) {
    return {{JobState::Queued, in_minutes(0, 0, 0), start}, {JobState::Running, start, {}}};
}

std::string sentence(const model::JobRecord& job, std::vector<model::ExpectedSpan> expected = {},
                     Chance chance = Chance::Runs) {
    return overview::job_sentence(job, expected, chance, kNow);
}

}  // namespace

TEST_CASE("a job that waits says for how long, and when it starts") {
    CHECK(sentence(job(JobState::Queued, 19), expected(in_minutes(18, 32, 62))) ==
          "tokenizer has waited for 19 min and starts in about 32 min (18 min to 1 h).");
    CHECK(sentence(job(JobState::Queued, 19)) ==
          "tokenizer has waited for 19 min; when it starts is not known.");
    CHECK(sentence(job(JobState::Queued, 19), {}, Chance::Never) ==
          "tokenizer can never run as it is asked.");
}

TEST_CASE("an estimate says no more than it knows") {
    const auto starts = [](model::Band band) {
        const std::string text = sentence(job(JobState::Queued, 1), expected(band));
        return text.substr(text.find(" and ") + 5);
    };
    CHECK(starts({kNow + 30 * kMinute, {}, {}}) == "starts in 30 min at the earliest.");
    CHECK(starts({kNow + 30 * kMinute, kNow + 40 * kMinute, {}}) ==
          "starts in about 40 min (30 min or later).");
    CHECK(starts(in_minutes(0, 0, 0)) == "starts now.");
    CHECK(starts(in_minutes(0, 0, 4)) == "starts now (now to 4 min).");
    CHECK(starts(in_minutes(121, 122, 1459)) == "starts in about 2 h (2 h to 1 d).");
}

TEST_CASE("a paused job says when it resumes, or what it waits for") {
    model::JobRecord paused = job(JobState::Paused, 2);
    paused.last_pause = model::PauseReceipt{};
    paused.last_pause->stopped = kNow - 6 * kMinute;
    CHECK(sentence(paused, expected(in_minutes(20, 30, 60))) ==
          "tokenizer has been paused for 6 min and resumes in about 30 min (20 min to 1 h).");
    paused.held = true;
    CHECK(sentence(paused) == "tokenizer has been paused for 6 min, until a user resumes it.");
    paused.held = false;
    paused.parked_since = kNow - 90 * kMinute;
    CHECK(sentence(paused) ==
          "tokenizer has been parked for 1 h 30 min, until it makes a call to its GPUs.");
}

TEST_CASE("a job that was never started is on hold, not paused") {
    model::JobRecord held = job(JobState::Queued, 3);
    held.held = true;
    CHECK(sentence(held) == "tokenizer has been on hold for 3 min, until a user resumes it.");
}

TEST_CASE("a job that runs says for how long, and when it ends") {
    const std::vector<model::ExpectedSpan> ends{
        {JobState::Running, in_minutes(0, 0, 0), in_minutes(30, 60, 120)}};
    CHECK(sentence(job(JobState::Running, 192), ends) ==
          "tokenizer has run for 3 h 12 min and ends in about 1 h (30 min to 2 h).");
    CHECK(sentence(job(JobState::Running, 0)) ==
          "tokenizer has run for less than 1 s; when it ends is not known.");
    CHECK(sentence(job(JobState::Starting, 1)) == "tokenizer has been starting for 1 min.");
}

TEST_CASE("a job that leaves says how long it may take") {
    model::JobRecord leaving = job(JobState::Pausing, 9);
    leaving.last_pause = model::PauseReceipt{};
    leaving.last_pause->deadline = kNow + base::Duration{42'500};
    CHECK(sentence(leaving) == "tokenizer is asked to save and pause, for which it has 42 s.");
    leaving.last_pause->deadline = kNow - kMinute;
    CHECK(sentence(leaving) ==
          "tokenizer is asked to save and pause, and its time for that is over.");
    CHECK(sentence(job(JobState::Cancelling, 9)) == "tokenizer is asked to stop.");
}

TEST_CASE("a job that has ended says how, and how long after it began") {
    CHECK(sentence(job(JobState::Succeeded, 5)) ==
          "tokenizer succeeded 5 min ago, 3 h 55 min after its first start.");
    model::JobRecord failed = job(JobState::Failed, 5);
    failed.exit_code = 137;
    CHECK(sentence(failed) ==
          "tokenizer failed 5 min ago with exit code 137, 3 h 55 min after its first start.");
    model::JobRecord cancelled = job(JobState::Cancelled, 5);
    cancelled.first_start.reset();
    CHECK(sentence(cancelled) == "tokenizer was cancelled 5 min ago, before it had started.");
}

TEST_CASE("a job without a name is named by its number") {
    model::JobRecord nameless = job(JobState::Cancelling, 1);
    nameless.spec.name.clear();
    nameless.id = {12};
    CHECK(sentence(nameless) == "Job 12 is asked to stop.");
}
