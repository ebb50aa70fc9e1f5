// SPDX-License-Identifier: Apache-2.0
#include "api/live/waiting.h"

#include <doctest/doctest.h>

#include <vector>

using berth::api::Waiting;
using berth::base::at_ms;
using berth::model::Event;
using berth::model::JobId;

namespace {

const auto kClient = std::make_shared<int>();

std::vector<Event> about(JobId job) {
    return {{1, at_ms(1), "machine", berth::model::JobRunning{job}}};
}

}  // namespace

TEST_CASE("a question is asked when something happened to its job") {
    Waiting waiting;
    int asked = 0;
    waiting.park(JobId{3}, at_ms(100), kClient, [&](bool) { return ++asked == 2; });
    waiting.on_events(about(JobId{4}));
    CHECK(asked == 0);
    waiting.on_events(about(JobId{3}));
    CHECK(asked == 1);
    CHECK_FALSE(waiting.is_empty());
    waiting.on_events(about(JobId{3}));
    CHECK(asked == 2);
    CHECK(waiting.is_empty());
}

TEST_CASE("when its time is over a question must be answered") {
    Waiting waiting;
    bool was_last = false;
    const auto question = [&](bool is_last) { return was_last = is_last; };
    waiting.park(JobId{3}, at_ms(100), kClient, question);
    waiting.park_for_events(at_ms(100), kClient, question);
    waiting.park_for_ticks(at_ms(100), kClient, question);
    waiting.on_tick(at_ms(99));
    CHECK_FALSE(was_last);
    waiting.on_tick(at_ms(100));
    CHECK(was_last);
    CHECK(waiting.is_empty());
}

TEST_CASE("questions about files are asked at every tick, those about events at every event") {
    Waiting waiting;
    int ticks = 0;
    int events = 0;
    waiting.park_for_ticks(at_ms(1000), kClient,
                           [&](bool is_last) { return ++ticks == 3 || is_last; });
    waiting.park_for_events(at_ms(1000), kClient,
                            [&](bool is_last) { return ++events == 3 || is_last; });
    waiting.on_tick(at_ms(1));
    waiting.on_events(about(JobId{1}));
    CHECK(ticks == 1);
    CHECK(events == 1);
    waiting.answer_all();
    CHECK(ticks == 2);
}

TEST_CASE("a question is forgotten when its client has gone, and not asked again") {
    Waiting waiting;
    auto client = std::make_shared<int>();
    int asked = 0;
    const auto question = [&](bool) { return ++asked > 100; };
    waiting.park(JobId{3}, at_ms(100), client, question);
    waiting.park_for_events(at_ms(100), client, question);
    waiting.park_for_ticks(at_ms(100), client, question);
    client.reset();
    waiting.on_tick(at_ms(1));
    CHECK(waiting.is_empty());
    CHECK(asked == 0);
}
