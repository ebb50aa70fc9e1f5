// SPDX-License-Identifier: Apache-2.0
#include "api/past/replay_desk.h"

#include <doctest/doctest.h>

#include <deque>

using namespace berth;
using api::ReplayDesk;
using model::ReplayState;

namespace {

// A log in which one job ran, and the other thread, which does a part when a test says so.
class Past {
  public:
    Past() {
        model::Node node;
        node.name = "n0";
        node.gpus = 1;
        model::Project project;
        project.name = "nlp";
        model::JobSpec spec;
        spec.name = "j";
        spec.project = "nlp";
        happen(model::NodeSet{node});
        happen(model::ProjectSet{project});
        happen(model::JobSubmitted{{1}, spec, "maria", "true"});
        happen(model::JobStarting{
            {1}, 1, model::Rule::Allocate, {{.task = 0, .node = {0}, .gpu_mask = 1}}});
        happen(model::JobRunning{{1}});
        happen(model::JobFinished{{1}, model::JobState::Succeeded, 0, {}});
    }
    ports::Background background() {
        return [this](std::function<void()> work, std::function<void()> then) {
            if (is_busy) return false;
            turns.push_back({std::move(work), std::move(then)});
            return true;
        };
    }
    ports::OpenLog open_log() {
        return [this]() -> base::Result<std::unique_ptr<ports::LogReader>> {
            if (is_broken) return base::fail(base::ErrorCode::Unavailable, "broken");
            return std::make_unique<Reader>(*this);
        };
    }
    bool turn() {
        if (turns.empty()) return false;
        auto [work, then] = std::move(turns.front());
        turns.pop_front();
        work();
        then();
        return true;
    }
    simulation::RerunQuestion question() const {
        return {.from = base::at_ms(0),
                .to = base::at_ms(10'000),
                .last = std::ssize(events),
                .started_policy = model::berth_policy(),
                .suppose = {},
                .policy = {}};
    }

    std::vector<model::Event> events;
    std::deque<std::pair<std::function<void()>, std::function<void()>>> turns;
    bool is_busy = false;
    bool is_broken = false;

  private:
    void happen(model::EventBody body) {
        const auto sequence = std::ssize(events) + 1;
        events.push_back({sequence, base::at_ms(sequence * 1'000), "test", std::move(body)});
    }
    struct Reader final : ports::LogReader {
        explicit Reader(Past& its_past) : past(its_past) {}
        base::Status read_events(std::int64_t after, std::int64_t,
                                 const std::function<void(model::Event&&)>& visit) override {
            for (const model::Event& event : past.events)
                if (event.sequence > after) visit(model::Event(event));
            return {};
        }
        Past& past;
    };
};

}  // namespace

TEST_CASE("a replay is done a part at a time, and its answer is kept") {
    Past past;
    ReplayDesk desk(past.open_log(), past.background());
    const auto id = desk.begin(past.question());
    REQUIRE(id);
    CHECK(desk.find(*id)->state == ReplayState::Reads);
    REQUIRE(past.turn());
    CHECK(desk.find(*id)->state == ReplayState::PlaysAsSet);
    CHECK(desk.find(*id)->percent >= 10);
    while (past.turn()) {
    }
    CHECK(desk.find(*id)->state == ReplayState::Done);
    CHECK(desk.find(*id)->id == *id);
    CHECK(desk.find(*id)->all.changed.mean_completion == std::chrono::seconds(1));
    CHECK(desk.find(*id + 1) == nullptr);
}

TEST_CASE("two are under way at once, and take turns") {
    Past past;
    ReplayDesk desk(past.open_log(), past.background());
    const auto one = desk.begin(past.question());
    const auto other = desk.begin(past.question());
    CHECK(*other > *one);
    const auto third = desk.begin(past.question());
    REQUIRE_FALSE(third);
    CHECK(third.error().code == base::ErrorCode::Exhausted);
    past.turn();
    past.turn();
    CHECK(desk.find(*one)->state == ReplayState::PlaysAsSet);
    CHECK(desk.find(*other)->state == ReplayState::PlaysAsSet);
    while (past.turn()) {
    }
    CHECK(desk.begin(past.question()));
}

TEST_CASE("one that is cancelled stops with the part that it is in") {
    Past past;
    ReplayDesk desk(past.open_log(), past.background());
    const auto id = desk.begin(past.question());
    CHECK(desk.cancel(*id));
    CHECK(desk.find(*id)->state == ReplayState::Cancelled);
    int turns = 0;
    while (past.turn()) ++turns;
    CHECK(turns == 2);  // the part, and putting it away
    CHECK(desk.find(*id)->state == ReplayState::Cancelled);
    CHECK_FALSE(desk.cancel(*id + 1));
    CHECK(desk.begin(past.question()));
}

TEST_CASE("old ones are forgotten, none that is under way") {
    Past past;
    ReplayDesk desk(past.open_log(), past.background());
    const auto first = desk.begin(past.question());
    while (past.turn()) {
    }
    std::int64_t newest = 0;
    for (std::size_t i = 0; i < api::kReplaysKept; ++i) {
        newest = *desk.begin(past.question());
        while (past.turn()) {
        }
    }
    CHECK(desk.find(*first) == nullptr);
    CHECK(desk.find(newest) != nullptr);
}

TEST_CASE("a log that cannot be read, or no room for a part, ends it with the cause") {
    Past past;
    ReplayDesk desk(past.open_log(), past.background());
    past.is_broken = true;
    const auto id = desk.begin(past.question());
    past.turn();
    CHECK(desk.find(*id)->state == ReplayState::Failed);
    CHECK(desk.find(*id)->problem == "broken");
    past.is_busy = true;
    const auto other = desk.begin(past.question());
    CHECK(desk.find(*other)->state == ReplayState::Failed);
    CHECK(desk.find(*other)->problem.starts_with("too much else"));
}
