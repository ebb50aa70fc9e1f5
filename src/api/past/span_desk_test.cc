// SPDX-License-Identifier: Apache-2.0
#include "api/past/span_desk.h"

#include <doctest/doctest.h>

#include "api/past/log_of_test.h"
#include "codec/api/timeline_json.h"

using namespace berth;
using api::SpanDesk;
using api::SpanQuestion;
using model::JobId;

namespace {

class World : public api::LogOfTest {
  public:
    SpanQuestion question() const {
        SpanQuestion question;
        question.asked.to = base::at_ms(INT64_C(1'000'000'000));
        question.now = base::at_ms(INT64_C(900'000'000));
        question.last = std::ssize(events);
        question.node_names = std::make_shared<const std::vector<std::string>>();
        return question;
    }
};

// What came of a question.
struct Answer {
    SpanDesk::Done done() {
        return [this](base::Result<std::string> body) {
            is_there = true;
            if (!body) return;
            codec::NameTable names;
            timeline = *codec::parse_spans(*body, names);
        };
    }
    bool is_there = false;
    std::optional<model::ClusterTimeline> timeline = {};
};

}  // namespace

TEST_CASE("a question is answered by the other thread, and the next one reads only what is new") {
    World world;
    SpanDesk desk(world.open_log(), world.background());
    world.submit({1});
    Answer first;
    desk.ask(world.question(), first.done());
    CHECK(world.read == 0);
    CHECK_FALSE(first.is_there);
    world.work();
    REQUIRE(first.timeline);
    REQUIRE(first.timeline->items.size() == 1);
    CHECK(first.timeline->items[0].name == "j1");
    CHECK(first.timeline->items[0].spans[0].from == base::at_ms(1'000));
    world.submit({2});
    Answer second;
    desk.ask(world.question(), second.done());
    world.work();
    CHECK(second.timeline->items.size() == 2);
    CHECK(world.read == 2);
    CHECK(world.opened == 1);
}

TEST_CASE("a long log is read in parts, between which others have their turn") {
    World world;
    SpanDesk desk(world.open_log(), world.background());
    world.submit({1});
    for (std::int64_t i = 0; i < 2 * api::kPartOfLog; ++i) world.happen(model::CheckpointSaved{});
    Answer answer;
    desk.ask(world.question(), answer.done());
    CHECK(world.work() == 3);
    CHECK(answer.timeline->items.size() == 1);
    CHECK_FALSE(answer.timeline->known_from);
}

TEST_CASE("questions that come meanwhile are answered together in the next turn") {
    World world;
    SpanDesk desk(world.open_log(), world.background());
    world.submit({1});
    Answer answers[3];
    for (Answer& answer : answers) desk.ask(world.question(), answer.done());
    CHECK(world.turns.size() == 1);
    CHECK(world.work() == 2);
    for (const Answer& answer : answers) CHECK(answer.timeline);
}

TEST_CASE("what is expected comes with the question, and the first end is in the sentence") {
    World world;
    SpanDesk desk(world.open_log(), world.background());
    world.submit({1});
    SpanQuestion question = world.question();
    const auto later = [&](int seconds) { return question.now + base::Duration{seconds * 1'000}; };
    const model::Band now{question.now, question.now, question.now};
    question.expected[JobId{1}] = {
        {{model::JobState::Running, now, {later(3'600), later(7'200), later(14'400)}}},
        model::Evidence::Declared};
    Answer answer;
    desk.ask(question, answer.done());
    world.work();
    REQUIRE(answer.timeline->items[0].expected.size() == 1);
    CHECK(answer.timeline->items[0].evidence == model::Evidence::Declared);
    CHECK(answer.timeline->sentence.ends_with("Next to end: j1 in about 2 h (1 h to 4 h)."));
}

TEST_CASE("a log that cannot be read is an error, and is read on later") {
    World world;
    SpanDesk desk(world.open_log(), world.background());
    world.submit({1});
    world.is_broken = true;
    Answer failed;
    desk.ask(world.question(), failed.done());
    world.work();
    CHECK(failed.is_there);
    CHECK_FALSE(failed.timeline);
    world.is_broken = false;
    Answer answer;
    desk.ask(world.question(), answer.done());
    world.work();
    CHECK(answer.timeline);
}

TEST_CASE("where too much is asked of the other thread, the question is refused at once") {
    World world;
    SpanDesk desk(world.open_log(), world.background());
    world.is_busy = true;
    Answer refused;
    desk.ask(world.question(), refused.done());
    CHECK(refused.is_there);
    CHECK_FALSE(refused.timeline);
    world.is_busy = false;
    Answer answer;
    desk.ask(world.question(), answer.done());
    world.work();
    CHECK(answer.timeline);
}
