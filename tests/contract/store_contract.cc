// SPDX-License-Identifier: Apache-2.0
#include "contract/store_contract.h"

#include <doctest/doctest.h>

#include "codec/fields/random_model.h"
#include "codec/log/event_log.h"

namespace berth::tests {
namespace {

using model::JobId;

ports::Batch batch_of(std::int64_t first, std::int64_t last) {
    ports::Batch batch;
    for (std::int64_t sequence = first; sequence <= last; ++sequence) {
        batch.events.push_back(
            codec::RandomModel(static_cast<std::uint64_t>(sequence)).event(sequence));
    }
    return batch;
}

model::Event submission(std::int64_t sequence, std::int64_t job, const std::string& key,
                        base::TimePoint time = {}) {
    return {sequence, time, "test", model::JobSubmitted{{job}, {}, {}, {}, key}};
}

std::vector<std::string> events_of(ports::Store& store, std::int64_t after, std::int64_t limit) {
    std::vector<std::string> texts;
    REQUIRE(store.read_events(after, limit, [&](model::Event&& event) {
        codec::append_event(texts.emplace_back(), event);
    }));
    return texts;
}

model::JobRecord finished(std::int64_t id, const std::string& project) {
    model::JobRecord record;
    record.id = {id};
    record.spec.project = project;
    record.state = model::JobState::Succeeded;
    return record;
}

model::LaunchSpec launch_with(const std::string& variable) {
    model::LaunchSpec launch;
    launch.command = {"sh", "-c", "true"};
    launch.environment = {variable};
    return launch;
}

std::vector<std::int64_t> ids_of(const base::Result<std::vector<model::JobRecord>>& records) {
    REQUIRE(records.has_value());
    std::vector<std::int64_t> ids;
    for (const model::JobRecord& record : *records) ids.push_back(record.id.value);
    return ids;
}

using Open = std::function<std::unique_ptr<ports::Store>()>;

void check_events(const Open& open) {
    auto store = open();
    CHECK(events_of(*store, 0, 100).empty());
    REQUIRE(store->commit({}));
    REQUIRE(store->commit(batch_of(1, 5)));
    REQUIRE(store->commit(batch_of(6, 6)));
    store.reset();
    store = open();
    REQUIRE(store->commit(batch_of(7, 60)));
    const auto all = events_of(*store, 0, 1000);
    REQUIRE(all.size() == 60);
    for (std::int64_t i = 0; i < 60; ++i) {
        std::string wanted;
        codec::append_event(wanted, batch_of(i + 1, i + 1).events[0]);
        CHECK(all[static_cast<std::size_t>(i)] == wanted);
    }
    CHECK(events_of(*store, 58, 1000) == std::vector(all.begin() + 58, all.end()));
    CHECK(events_of(*store, 10, 3) == std::vector(all.begin() + 10, all.begin() + 13));
    CHECK(events_of(*store, 60, 1000).empty());
}

void check_refused_batch(const Open& open) {
    auto store = open();
    REQUIRE(store->commit(batch_of(1, 3)));
    for (const auto& [first, last] : {std::pair(3, 4), {5, 6}, {1, 1}, {0, 0}}) {
        ports::Batch batch = batch_of(first, last);
        batch.launches.emplace_back(JobId{1}, launch_with("A=1"));
        batch.finished.push_back(finished(2, "p"));
        batch.events.push_back(submission(last + 1, 1, "k"));
        CHECK_FALSE(store->commit(batch).has_value());
    }
    CHECK(events_of(*store, 0, 100).size() == 3);
    CHECK_FALSE(store->launch_of({1}).has_value());
    CHECK_FALSE(store->finished_job({2}).has_value());
    CHECK_FALSE(store->job_with_key("k", {})->has_value());
    CHECK(store->commit(batch_of(4, 4)).has_value());
}

void check_launches(const Open& open) {
    auto store = open();
    CHECK(store->launch_of({1}).error().code == base::ErrorCode::NotFound);
    ports::Batch batch = batch_of(1, 2);
    const std::string odd = "A=\xff\xed\xb2\x80\n\"\\\x01é";
    batch.launches.emplace_back(JobId{1}, launch_with(odd));
    batch.launches.emplace_back(JobId{2}, launch_with("B=2"));
    batch.finished.push_back(finished(2, "p"));  // submitted and cancelled in one batch
    REQUIRE(store->commit(batch));
    CHECK(store->launch_of({1})->environment == std::vector{odd});
    batch = batch_of(3, 3);
    batch.finished.push_back(finished(1, "p"));
    REQUIRE(store->commit(batch));
    store.reset();
    store = open();
    // Kept with the finished job, so that it can be shown and run again.
    CHECK(store->launch_of({1})->environment == std::vector{odd});
    CHECK(store->launch_of({2})->command == launch_with("").command);
}

void check_finished(const Open& open) {
    auto store = open();
    CHECK(store->finished_job({7}).error().code == base::ErrorCode::NotFound);
    CHECK(ids_of(store->finished_jobs({})).empty());
    for (std::int64_t i = 1; i <= 10; ++i) {
        ports::Batch batch = batch_of(i, i);
        batch.finished.push_back(finished(i, i % 2 == 0 ? "even" : "odd"));
        REQUIRE(store->commit(batch));
    }
    using Ids = std::vector<std::int64_t>;
    CHECK(store->finished_job({7})->spec.project == "odd");
    CHECK(ids_of(store->finished_jobs({})) == Ids{10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
    CHECK(ids_of(store->finished_jobs({"", JobId{INT64_MAX}, 3})) == Ids{10, 9, 8});
    CHECK(ids_of(store->finished_jobs({"", JobId{8}, 3})) == Ids{7, 6, 5});
    CHECK(ids_of(store->finished_jobs({"even", JobId{8}, 2})) == Ids{6, 4});
    CHECK(ids_of(store->finished_jobs({"none", JobId{8}, 2})).empty());
}

void check_keys(const Open& open) {
    auto store = open();
    const base::TimePoint ever{};
    CHECK_FALSE(store->job_with_key("a", ever)->has_value());
    const base::TimePoint first = base::at_ms(1'700'000'000'000);
    ports::Batch batch;
    batch.events = {submission(1, 1, "a", first), submission(2, 2, "", first),
                    submission(3, 3, "b", first)};
    REQUIRE(store->commit(batch));
    CHECK(*store->job_with_key("a", first) == JobId{1});
    CHECK(*store->job_with_key("b", ever) == JobId{3});
    CHECK_FALSE(store->job_with_key("", ever)->has_value());
    CHECK_FALSE(store->job_with_key("a", first + base::Duration{1})->has_value());
    batch.events = {submission(4, 4, "a", first + ports::kKeyKept + base::Duration{1})};
    REQUIRE(store->commit(batch));
    CHECK(*store->job_with_key("a", ever) == JobId{4});
    CHECK(*store->job_with_key("b", ever) == JobId{3});
    model::Snapshot snapshot;
    snapshot.sequence = 4;
    snapshot.time = first + ports::kKeyKept + base::Duration{1};
    REQUIRE(store->write_snapshot(snapshot));
    CHECK_FALSE(store->job_with_key("b", ever)->has_value());
    CHECK(*store->job_with_key("a", ever) == JobId{4});
}

// Events of two jobs in turn, and of none.
void check_events_of_a_job(const Open& open) {
    auto store = open();
    ports::Batch batch;
    for (std::int64_t i = 1; i <= 30; ++i) {
        model::Event event{i, {}, "test", model::JobRunning{JobId{i % 3}}};
        if (i % 3 == 0) event.body = model::PoolSet{{"p", {}, {}}};
        batch.events.push_back(event);
    }
    REQUIRE(store->commit(batch));
    const auto sequences = [&](JobId job, std::int64_t after, std::int64_t limit) {
        std::vector<std::int64_t> found;
        REQUIRE(store->read_events_of(
            job, after, limit, [&](model::Event&& event) { found.push_back(event.sequence); }));
        return found;
    };
    using Sequences = std::vector<std::int64_t>;
    CHECK(sequences({1}, 0, 3) == Sequences{1, 4, 7});
    CHECK(sequences({2}, 20, 100) == Sequences{23, 26, 29});
    CHECK(sequences({1}, 30, 100).empty());
    CHECK(sequences({7}, 0, 100).empty());
}

void check_snapshots(const Open& open) {
    auto store = open();
    CHECK_FALSE(store->latest_snapshot()->has_value());
    std::string wanted;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        model::Snapshot snapshot = codec::RandomModel(seed).any<model::Snapshot>();
        snapshot.sequence = static_cast<std::int64_t>(seed);
        REQUIRE(store->write_snapshot(snapshot));
        wanted.clear();
        codec::append_snapshot(wanted, snapshot);
    }
    store.reset();
    store = open();
    std::string found;
    codec::append_snapshot(found, **store->latest_snapshot());
    CHECK(found == wanted);
}

}  // namespace

void check_store(const Open& open) {
    SUBCASE("events come back in order, equal, across restarts") { check_events(open); }
    SUBCASE("a batch out of sequence changes nothing") { check_refused_batch(open); }
    SUBCASE("commands stay readable after the job has ended") { check_launches(open); }
    SUBCASE("finished jobs are listed newest first") { check_finished(open); }
    SUBCASE("a key answers with its job, for as long as it is kept") { check_keys(open); }
    SUBCASE("the events of one job are found without the others") { check_events_of_a_job(open); }
    SUBCASE("the newest snapshot replaces the others") { check_snapshots(open); }
}

}  // namespace berth::tests
