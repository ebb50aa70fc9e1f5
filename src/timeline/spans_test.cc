// SPDX-License-Identifier: Apache-2.0
#include "timeline/spans.h"

#include <doctest/doctest.h>

#include <string>

using namespace berth;
using model::JobId;
using model::JobState;

namespace {

constexpr JobId kJob{7};
constexpr JobId kOther{9};

model::TimePoint at(int second) { return base::at_ms(second * INT64_C(1000)); }

std::vector<model::TaskPlacement> tasks(int first, int count) {
    std::vector<model::TaskPlacement> placed;
    for (int rank = first; rank < first + count; ++rank) {
        model::TaskPlacement task;
        task.task = rank;
        task.node = {static_cast<base::NodeId::Rep>(rank / 8)};
        task.gpu_mask = UINT64_C(1) << static_cast<unsigned>(rank % 8);
        task.share = base::kWholeGpu;
        placed.push_back(task);
    }
    return placed;
}

// A job's log, second by second.
class Life {
  public:
    explicit Life(model::Elastic elastic = model::Elastic::Live) {
        model::JobSpec spec;
        spec.elastic = elastic;
        happen(0, model::JobSubmitted{kJob, spec, "maria", "python train.py"}, "maria");
    }
    void happen(int second, model::EventBody body, std::string actor = "machine") {
        events.push_back({++sequence, at(second), std::move(actor), std::move(body)});
    }
    void run(int second, int attempt, int count) {
        happen(second, model::JobStarting{kJob, attempt, model::Rule::Allocate, tasks(0, count)});
        happen(second + 1, model::JobRunning{kJob});
    }
    void ask_to_pause(int second, std::int64_t at_risk = 0) {
        happen(second,
               model::PauseRequested{
                   kJob, model::Rule::Reclaim, kOther, {at_risk, 0}, at(99), true, {}},
               "scheduler");
    }
    model::JobTimeline timeline(int now, std::size_t from = 0) const {
        timeline::Spans spans;
        for (std::size_t i = from; i < events.size(); ++i) spans.read(events[i]);
        return spans.timeline(at(now));
    }

    std::vector<model::Event> events;
    std::int64_t sequence = 0;
};

// "queued 0-10, starting 10-11, running 11-": states and seconds.
std::string words(const model::JobTimeline& timeline) {
    std::string text;
    for (const model::Span& span : timeline.spans) {
        if (!text.empty()) text += ", ";
        text += model::kJobStateNames[static_cast<std::size_t>(span.state)];
        text += " " + std::to_string(base::to_ms(span.from) / 1000) + "-";
        if (span.to) text += std::to_string(base::to_ms(*span.to) / 1000);
    }
    return text;
}

}  // namespace

TEST_CASE("a job waits, runs, is paused for another one and runs again") {
    Life life;
    life.run(10, 1, 2);
    life.ask_to_pause(20, 5'000);
    life.happen(22, model::JobPaused{kJob, true});
    life.run(30, 2, 2);
    const auto timeline = life.timeline(40);
    CHECK(words(timeline) ==
          "queued 0-10, starting 10-11, running 11-20, pausing 20-22, paused 22-30, "
          "starting 30-31, running 31-");
    CHECK(timeline.waited == base::Duration{10'000});
    CHECK(timeline.ran == base::Duration{22'000});
    CHECK(timeline.paused == base::Duration{8'000});
    const model::Span& paused = timeline.spans[4];
    CHECK(paused.rule == model::Rule::Reclaim);
    CHECK(paused.beneficiary == kOther);
    CHECK(paused.actor == "scheduler");
    CHECK(paused.is_saved);
    CHECK(paused.lost_gpu_ms == 0);
    CHECK(paused.gpus == base::gpus(0));
    const model::Span& now = timeline.spans.back();
    CHECK(now.attempt == 2);
    CHECK(now.tasks == 2);
    CHECK(now.gpus == base::gpus(2));
    CHECK(now.rule == model::Rule::Allocate);
}

TEST_CASE("a pause without saving says what it destroyed") {
    Life life;
    life.run(10, 1, 1);
    life.ask_to_pause(20, 5'000);
    life.happen(25, model::JobPaused{kJob, false, "killed"});
    const model::Span paused = life.timeline(30).spans.back();
    CHECK_FALSE(paused.is_saved);
    CHECK(paused.lost_gpu_ms == 5'000);
    CHECK(paused.reason == "killed");
}

TEST_CASE("what lasts no time is not a span, and what it said of the start stays") {
    Life life;
    life.happen(0, model::JobStarting{kJob, 1, model::Rule::Allocate, tasks(0, 1)});
    life.happen(0, model::JobRunning{kJob});
    const auto timeline = life.timeline(5);
    CHECK(words(timeline) == "running 0-");
    CHECK(timeline.spans[0].rule == model::Rule::Allocate);
    CHECK(timeline.waited == base::Duration{0});
}

TEST_CASE("saving a checkpoint begins no span") {
    Life life;
    life.run(1, 1, 1);
    life.happen(5, model::CheckpointSaved{kJob});
    CHECK(words(life.timeline(9)) == "queued 0-1, starting 1-2, running 2-");
}

TEST_CASE("an elastic job that shrinks and grows has a span for each number of tasks") {
    Life life;
    life.run(1, 1, 4);
    life.happen(
        10, model::PauseRequested{kJob, model::Rule::Reclaim, kOther, {}, at(99), false, {2, 3}});
    life.happen(12, model::JobPaused{kJob, true});
    life.happen(20, model::JobStarting{kJob, 1, model::Rule::Allocate, tasks(2, 1)});
    life.happen(21, model::JobRunning{kJob});
    const auto timeline = life.timeline(30);
    CHECK(words(timeline) ==
          "queued 0-1, starting 1-2, running 2-12, running 12-20, starting 20-21, running 21-");
    CHECK(timeline.spans[2].tasks == 4);
    CHECK(timeline.spans[3].tasks == 2);
    CHECK(timeline.spans[5].tasks == 3);
}

TEST_CASE("a job that restarts to grow runs on until it has saved") {
    Life life(model::Elastic::Restart);
    life.run(1, 1, 2);
    life.happen(10, model::JobStarting{kJob, 1, model::Rule::Allocate, tasks(2, 2)});
    CHECK(life.timeline(11).spans.back().state == JobState::Running);
    life.happen(14, model::JobResized{kJob, 2, true});
    const model::Span span = life.timeline(15).spans.back();
    CHECK(span.state == JobState::Starting);
    CHECK(span.attempt == 2);
    CHECK(span.tasks == 4);
}

TEST_CASE("a job of another size goes on without the tasks that ended") {
    Life life(model::Elastic::Grow);
    life.run(1, 1, 3);
    life.happen(10, model::JobSizeSet{kJob, 2, {0}});
    CHECK(life.timeline(11).spans.back().tasks == 2);
}

TEST_CASE("a job on hold is so until a user resumes it") {
    Life life;
    life.happen(5, model::JobHeld{kJob}, "maria");
    life.happen(9, model::JobReleased{kJob}, "maria");
    const auto timeline = life.timeline(12);
    CHECK(words(timeline) == "queued 0-5, queued 5-9, queued 9-");
    CHECK(timeline.spans[1].is_on_hold);
    CHECK_FALSE(timeline.spans[2].is_on_hold);
}

TEST_CASE("a parked job waits for nothing until it wakes") {
    Life life;
    life.run(1, 1, 1);
    life.happen(60, model::JobParked{kJob, {}});
    life.happen(80, model::JobWoken{kJob});
    const auto timeline = life.timeline(90);
    CHECK(words(timeline) == "queued 0-1, starting 1-2, running 2-60, paused 60-80, paused 80-");
    CHECK(timeline.spans[3].is_parked);
    CHECK_FALSE(timeline.spans[4].is_parked);
}

TEST_CASE("an attempt that is lost waits again, and says why") {
    Life life;
    life.run(1, 1, 1);
    life.happen(10, model::AttemptLost{kJob, "node n1 is gone"});
    const model::Span span = life.timeline(11).spans.back();
    CHECK(span.state == JobState::Queued);
    CHECK(span.reason == "node n1 is gone");
}

TEST_CASE("a job that ended while no server was there ended then") {
    Life life;
    life.run(1, 1, 1);
    life.happen(50, model::JobFinished{kJob, JobState::Failed, 1, "exit 1", at(30)});
    const auto timeline = life.timeline(99);
    CHECK(words(timeline) == "queued 0-1, starting 1-2, running 2-30, failed 30-");
    CHECK(timeline.ran == base::Duration{29'000});
    CHECK(timeline.spans.back().reason == "exit 1");
}

TEST_CASE("a log that begins later begins the spans later") {
    Life life;
    life.run(10, 1, 2);
    life.ask_to_pause(20);
    life.happen(22, model::JobPaused{kJob, true});
    CHECK(words(life.timeline(40, 3)) == "pausing 20-22, paused 22-");
}

TEST_CASE("of a very long life the newest spans are kept, and its times are of all of it") {
    Life life;
    constexpr int kPauses = 400;
    for (int pause = 0; pause < kPauses; ++pause) {
        const int second = 10 * pause;
        life.happen(second + 1,
                    model::JobStarting{kJob, pause + 1, model::Rule::Allocate, tasks(0, 1)});
        life.ask_to_pause(second + 5);
        life.happen(second + 7, model::JobPaused{kJob, true});
    }
    const auto timeline = life.timeline(10 * kPauses);
    CHECK(timeline.spans.size() == timeline::kSpansMax);
    CHECK(timeline.left_out == 3 * kPauses + 1 - static_cast<int>(timeline::kSpansMax));
    CHECK(timeline.waited + timeline.ran + timeline.paused == base::Duration{10'000 * kPauses});
    CHECK(timeline.ran == base::Duration{6'000 * kPauses});
}
