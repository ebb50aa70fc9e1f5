// SPDX-License-Identifier: Apache-2.0
#include "api/past/past_desk.h"

#include <doctest/doctest.h>

using namespace berth;
using api::PastDesk;
using model::JobId;

namespace {

base::Error unused() { return {base::ErrorCode::Internal, "not asked for here"}; }

// Only the events of jobs, and how many of them were read.
class Log final : public ports::Store {
  public:
    void happen(model::EventBody body) {
        const auto sequence = std::ssize(events) + 1;
        events.push_back({sequence, base::at_ms(sequence * 1'000), "test", std::move(body)});
    }
    base::Status read_events_of(JobId job, std::int64_t after, std::int64_t limit,
                                const std::function<void(model::Event&&)>& visit) override {
        if (is_broken) return tl::unexpected(unused());
        for (const model::Event& event : events) {
            const auto* saved = std::get_if<model::CheckpointSaved>(&event.body);
            const auto* submitted = std::get_if<model::JobSubmitted>(&event.body);
            const JobId of = saved ? saved->job : submitted ? submitted->job : JobId{};
            if (of != job || event.sequence <= after || limit-- <= 0) continue;
            ++read;
            visit(model::Event(event));
        }
        return {};
    }
    base::Status commit(const ports::Batch&) override { return tl::unexpected(unused()); }
    base::Result<std::optional<model::Snapshot>> latest_snapshot() override {
        return tl::unexpected(unused());
    }
    base::Status write_snapshot(const model::Snapshot&) override {
        return tl::unexpected(unused());
    }
    base::Status read_events(std::int64_t after, std::int64_t limit,
                             const std::function<void(model::Event&&)>& visit) override {
        if (is_broken) return tl::unexpected(unused());
        for (const model::Event& event : events) {
            if (event.sequence <= after || limit-- <= 0) continue;
            ++read;
            visit(model::Event(event));
        }
        return {};
    }
    base::Result<model::LaunchSpec> launch_of(JobId) override { return tl::unexpected(unused()); }
    base::Result<model::JobRecord> finished_job(JobId) override { return tl::unexpected(unused()); }
    base::Result<std::vector<model::JobRecord>> finished_jobs(
        const ports::FinishedQuery&) override {
        return tl::unexpected(unused());
    }
    base::Result<std::optional<JobId>> job_with_key(const std::string&, base::TimePoint) override {
        return tl::unexpected(unused());
    }

    std::vector<model::Event> events;
    int read = 0;
    bool is_broken = false;
};

}  // namespace

TEST_CASE("a job that is asked about again costs what has happened since") {
    Log log;
    PastDesk desk(log);
    log.happen(model::JobSubmitted{{1}, {}, "maria", "true"});
    log.happen(model::CheckpointSaved{{1}});
    for (int again = 0; again < 3; ++again) REQUIRE(*desk.read_on({1}) != nullptr);
    CHECK(log.read == 2);
    log.happen(model::CheckpointSaved{{1}});
    REQUIRE(*desk.read_on({1}) != nullptr);
    CHECK(log.read == 3);
}

TEST_CASE("a long life is read a part at a time") {
    Log log;
    PastDesk desk(log);
    log.happen(model::JobSubmitted{{1}, {}, "maria", "true"});
    for (int i = 0; i < 2 * api::kEventsAtOnce; ++i) log.happen(model::CheckpointSaved{{1}});
    CHECK(*desk.read_on({1}) == nullptr);
    CHECK(log.read == api::kEventsAtOnce);
    CHECK(*desk.read_on({1}) == nullptr);
    REQUIRE(*desk.read_on({1}) != nullptr);
    CHECK(log.read == 2 * api::kEventsAtOnce + 1);
}

TEST_CASE("a number of jobs is remembered, those asked about last") {
    Log log;
    PastDesk desk(log);
    const int kept = static_cast<int>(api::kJobsKept);
    for (int job = 1; job <= kept + 1; ++job) {
        log.happen(model::JobSubmitted{{job}, {}, "maria", "true"});
    }
    for (int job = 1; job <= kept; ++job) (void)desk.read_on({job});
    (void)desk.read_on({1});
    (void)desk.read_on({kept + 1});
    log.read = 0;
    (void)desk.read_on({1});
    CHECK(log.read == 0);
    (void)desk.read_on({2});
    CHECK(log.read == 1);
}

TEST_CASE("a log that cannot be read is an error, and is read on later") {
    Log log;
    PastDesk desk(log);
    log.happen(model::JobSubmitted{{1}, {}, "maria", "true"});
    log.is_broken = true;
    CHECK_FALSE(desk.read_on({1}).has_value());
    log.is_broken = false;
    REQUIRE(*desk.read_on({1}) != nullptr);
    CHECK((*desk.read_on({1}))->spans.timeline(base::at_ms(9'000)).spans.size() == 1);
}

TEST_CASE("takings are looked for in the last events of the log, in parts, and then in new ones") {
    Log log;
    const auto take = [&](JobId job) {
        model::PauseRequested request;
        request.job = job;
        request.beneficiary = JobId{9};
        request.sides = {"default", {"nlp", {}, {}}, {"vision", {}, {}}, base::gpus(1)};
        log.happen(request);
    };
    take(JobId{1});  // too long ago
    for (std::int64_t i = 0; i < api::kEventsLookedAt - 1; ++i) {
        log.happen(model::CheckpointSaved{JobId{5}});
    }
    take(JobId{2});
    PastDesk desk(log);
    int calls = 0;
    const timeline::Takings* found = nullptr;
    while (found == nullptr && ++calls < 1'000) {
        const auto read = desk.read_takings(std::ssize(log.events));
        REQUIRE(read);
        found = *read;
    }
    CHECK(calls == api::kEventsLookedAt / api::kEventsAtOnce + 1);
    CHECK(desk.takings_after() == 1);
    REQUIRE(found->of("nlp").size() == 1);
    CHECK(found->of("nlp").front().job == JobId{2});
    log.read = 0;
    take(JobId{3});
    const auto again = desk.read_takings(std::ssize(log.events));
    REQUIRE(again);
    CHECK((*again)->of("vision").front().job == JobId{3});
    CHECK(log.read == 1);
    log.is_broken = true;
    CHECK_FALSE(desk.read_takings(std::ssize(log.events)));
}
