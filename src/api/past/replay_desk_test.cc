// SPDX-License-Identifier: Apache-2.0
#include "api/past/replay_desk.h"

#include <doctest/doctest.h>

#include "api/past/log_of_test.h"

using namespace berth;
using api::ReplayDesk;
using model::ReplayState;

namespace {

// A log in which one job ran.
class Past : public api::LogOfTest {
  public:
    Past() {
        model::Node node;
        node.name = "n0";
        node.gpus = 1;
        model::Project project;
        project.name = "nlp";
        happen(model::NodeSet{node});
        happen(model::ProjectSet{project});
        submit({1});
        happen(model::JobStarting{
            {1}, 1, model::Rule::Allocate, {{.task = 0, .node = {0}, .gpu_mask = 1}}});
        happen(model::JobRunning{{1}});
        happen(model::JobFinished{{1}, model::JobState::Succeeded, 0, {}});
    }
    simulation::RerunQuestion question() const {
        return {.from = base::at_ms(0),
                .to = base::at_ms(10'000),
                .last = std::ssize(events),
                .started_policy = model::berth_policy(),
                .suppose = {},
                .policy = {}};
    }
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
    past.work();
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
    past.work();
    CHECK(desk.begin(past.question()));
}

TEST_CASE("one that is cancelled stops with the part that it is in") {
    Past past;
    ReplayDesk desk(past.open_log(), past.background());
    const auto id = desk.begin(past.question());
    CHECK(desk.cancel(*id));
    CHECK(desk.find(*id)->state == ReplayState::Cancelled);
    CHECK(past.work() == 2);  // the part, and putting it away
    CHECK(desk.find(*id)->state == ReplayState::Cancelled);
    CHECK_FALSE(desk.cancel(*id + 1));
    CHECK(desk.begin(past.question()));
}

TEST_CASE("old ones are forgotten, none that is under way") {
    Past past;
    ReplayDesk desk(past.open_log(), past.background());
    const auto first = desk.begin(past.question());
    past.work();
    std::int64_t newest = 0;
    for (std::size_t i = 0; i < api::kReplaysKept; ++i) {
        newest = *desk.begin(past.question());
        past.work();
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
