// SPDX-License-Identifier: Apache-2.0
#include "timeline/receipts.h"

#include <doctest/doctest.h>

#include <string>

using namespace berth;
using model::JobId;

namespace {

constexpr JobId kPausedJob{7};
constexpr JobId kGainer{9};

model::TimePoint moment(int second) { return base::at_ms(second * INT64_C(1000)); }

class PausedLife {
  public:
    void happen(int second, model::EventBody body) {
        receipts_.read({++sequence_, moment(second), "scheduler", std::move(body)});
    }
    void start(int second, int attempt) {
        happen(second, model::JobStarting{kPausedJob, attempt, model::Rule::Allocate, {}});
    }
    void ask(int second, std::vector<int> tasks = {}) {
        model::PauseRequested request{.job = kPausedJob,
                                      .beneficiary = kGainer,
                                      .cost = {.unsaved_gpu_ms = 5'000, .restart_gpu_ms = 1'000},
                                      .deadline = moment(second + 60),
                                      .whole_job = tasks.empty(),
                                      .tasks = tasks};
        request.sides = {"default",
                         {"nlp", base::gpus(8), base::gpus(2)},
                         {"vision", base::gpus(0), base::gpus(6)},
                         base::gpus(4)};
        happen(second, request);
    }
    std::vector<model::PastPause> pauses() const { return receipts_.receipts().items; }
    std::int64_t left_out() const { return receipts_.receipts().left_out; }

  private:
    timeline::Receipts receipts_;
    std::int64_t sequence_ = 0;
};

}  // namespace

TEST_CASE("each pause has a receipt, the newest in front") {
    PausedLife life;
    life.start(1, 1);
    life.ask(10);
    life.happen(12, model::JobPaused{kPausedJob, true});
    life.start(20, 2);
    life.ask(30);
    life.happen(90, model::JobPaused{kPausedJob, false, "killed"});
    const auto pauses = life.pauses();
    REQUIRE(pauses.size() == 2);
    CHECK(pauses[1].attempt == 1);
    CHECK(pauses[1].stopped == moment(12));
    CHECK(pauses[1].saved);
    CHECK(pauses[1].lost_gpu_ms == 0);
    CHECK(pauses[0].attempt == 2);
    CHECK(pauses[0].time == moment(30));
    CHECK(pauses[0].beneficiary == kGainer);
    CHECK(pauses[0].lost_gpu_ms == 5'000);
    CHECK(pauses[0].detail == "killed");
    REQUIRE(pauses[0].sides.has_value());
    CHECK(pauses[0].sides->other.project == "vision");
    CHECK(pauses[0].sides->own.used == base::gpus(8));
}

TEST_CASE("a job that shrinks has a receipt of the tasks that left") {
    PausedLife life;
    life.start(1, 1);
    life.ask(10, {2, 3});
    life.happen(14, model::JobPaused{kPausedJob, true});
    const auto pauses = life.pauses();
    REQUIRE(pauses.size() == 1);
    CHECK_FALSE(pauses[0].is_whole);
    CHECK(pauses[0].tasks == 2);
}

TEST_CASE("a job that restarts with fewer tasks says what that destroyed") {
    PausedLife life;
    life.start(1, 1);
    life.ask(10, {1});
    life.happen(14, model::JobResized{kPausedJob, 2, false, 700});
    CHECK(life.pauses()[0].lost_gpu_ms == 700);
    life.ask(20);
    CHECK(life.pauses()[0].attempt == 2);
}

TEST_CASE("parking is a pause that destroys nothing") {
    PausedLife life;
    life.start(1, 1);
    life.happen(50, model::JobParked{kPausedJob, {base::Bytes{64}, base::Duration{310}}});
    const auto pauses = life.pauses();
    REQUIRE(pauses.size() == 1);
    CHECK(pauses[0].rule == model::Rule::Park);
    CHECK(pauses[0].stopped == moment(50));
    CHECK(pauses[0].saved);
    CHECK(pauses[0].frozen.has_value());
}

TEST_CASE("a job that ended before it had paused has stopped for no pause") {
    PausedLife life;
    life.start(1, 1);
    life.ask(10);
    life.happen(11, model::JobFinished{kPausedJob, model::JobState::Succeeded, 0, ""});
    CHECK_FALSE(life.pauses()[0].stopped);
}

TEST_CASE("growing by a restart is no pause") {
    PausedLife life;
    life.start(1, 1);
    life.happen(14, model::JobResized{kPausedJob, 2, true});
    CHECK(life.pauses().empty());
}

TEST_CASE("of very many pauses the newest are kept") {
    PausedLife life;
    const int many = static_cast<int>(timeline::kReceiptsMax) + 5;
    for (int pause = 1; pause <= many; ++pause) {
        life.start(10 * pause, pause);
        life.ask(10 * pause + 1);
        life.happen(10 * pause + 2, model::JobPaused{kPausedJob, true});
    }
    CHECK(life.pauses().size() == timeline::kReceiptsMax);
    CHECK(life.pauses().front().attempt == many);
    CHECK(life.left_out() == 5);
}
