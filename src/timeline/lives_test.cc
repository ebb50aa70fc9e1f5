// SPDX-License-Identifier: Apache-2.0
#include "timeline/lives.h"

#include <doctest/doctest.h>

using namespace berth;
using model::JobId;
using model::JobState;
using timeline::SpansAsked;

namespace {

model::TimePoint at_second(std::int64_t second) { return base::at_ms(second * 1'000); }

model::TaskPlacement task(int rank, base::NodeId::Rep node, int gpus) {
    model::TaskPlacement task;
    task.task = rank;
    task.node = {node};
    task.gpu_mask = (UINT64_C(1) << static_cast<unsigned>(gpus)) - 1;
    task.share = base::kWholeGpu;
    return task;
}

// A cluster's log, second by second.
class ClusterLog {
  public:
    void happen(std::int64_t second, model::EventBody body) {
        lives.read({++sequence_, at_second(second), "test", std::move(body)});
    }
    void submit(std::int64_t second, JobId job, const std::string& project) {
        model::JobSpec spec;
        spec.name = "j" + std::to_string(job.value);
        spec.project = project;
        happen(second, model::JobSubmitted{job, spec, "maria", "true"});
    }
    void run(std::int64_t second, JobId job, std::vector<model::TaskPlacement> tasks) {
        happen(second, model::JobStarting{job, 1, model::Rule::Allocate, std::move(tasks)});
        happen(second, model::JobRunning{job});
    }
    void finish(std::int64_t second, JobId job, JobState state = JobState::Succeeded) {
        happen(second, model::JobFinished{job, state, 0, ""});
    }

    timeline::Lives lives;

  private:
    std::int64_t sequence_ = 0;
};

std::vector<std::int64_t> numbers(const model::ClusterTimeline& page) {
    std::vector<std::int64_t> numbers;
    for (const model::JobSpans& job : page.items) numbers.push_back(job.id);
    return numbers;
}

using Numbers = std::vector<std::int64_t>;

SpansAsked between(std::int64_t from, std::int64_t to) {
    return {.from = at_second(from), .to = at_second(to)};
}

}  // namespace

TEST_CASE("a job is found in each time that its spans touch") {
    ClusterLog log;
    log.submit(10, {1}, "nlp");
    log.run(20, {1}, {task(0, 0, 2)});
    log.finish(30, {1});
    CHECK(numbers(log.lives.page(between(0, 10))).empty());
    CHECK(numbers(log.lives.page(between(0, 11))) == Numbers{1});
    CHECK(numbers(log.lives.page(between(22, 23))) == Numbers{1});
    CHECK(numbers(log.lives.page(between(30, 31))) == Numbers{1});  // how it ended
    CHECK(numbers(log.lives.page(between(31, 99))).empty());
    const auto page = log.lives.page(between(22, 23));
    REQUIRE(page.items[0].spans.size() == 1);  // those of that time, whole
    CHECK(page.items[0].spans[0].from == at_second(20));
    CHECK(page.items[0].spans[0].to == at_second(30));
    CHECK(page.items[0].state == JobState::Succeeded);
    CHECK(page.items[0].gpus == base::gpus(2));
}

TEST_CASE("a job that has not ended is in all times to come") {
    ClusterLog log;
    log.submit(10, {1}, "nlp");
    CHECK(numbers(log.lives.page(between(1'000, 2'000))) == Numbers{1});
}

TEST_CASE("jobs are asked for by project, user and node") {
    ClusterLog log;
    log.submit(0, {1}, "nlp");
    log.submit(0, {2}, "vision");
    log.run(5, {2}, {task(0, 0, 8), task(1, 3, 8)});
    SpansAsked asked = between(0, 99);
    asked.project = "nlp";
    CHECK(numbers(log.lives.page(asked)) == Numbers{1});
    asked.project = "";
    asked.user = "joe";
    CHECK(numbers(log.lives.page(asked)).empty());
    asked.user = "";
    asked.node = base::NodeId{3};
    CHECK(numbers(log.lives.page(asked)) == Numbers{2});
    asked.to = at_second(5);
    CHECK(numbers(log.lives.page(asked)).empty());
}

TEST_CASE("a wide gang is on all its nodes, with what it has on each") {
    ClusterLog log;
    log.submit(0, {1}, "nlp");
    std::vector<model::TaskPlacement> tasks;
    for (int rank = 0; rank < 40; ++rank)
        tasks.push_back(task(rank, static_cast<base::NodeId::Rep>(rank / 2), 4));
    log.run(1, {1}, tasks);
    const model::Span span = log.lives.page(between(1, 2)).items[0].spans[0];
    REQUIRE(span.nodes.size() == 20);
    CHECK(span.nodes.back() == base::NodeId{19});
    CHECK(span.node_gpus == std::vector<model::MilliGpu>(20, base::gpus(8)));
}

TEST_CASE("pages end with a job, and the next one goes on behind it") {
    ClusterLog log;
    for (std::int64_t job = 1; job <= 5; ++job) log.submit(0, {job}, "nlp");
    SpansAsked asked = between(0, 99);
    asked.jobs_max = 2;
    Numbers all;
    for (int pages = 0; pages < 9; ++pages) {
        const auto page = log.lives.page(asked);
        CHECK(page.counts.jobs == 5);
        for (const std::int64_t number : numbers(page)) all.push_back(number);
        if (page.next.empty()) break;
        asked.after = JobId{std::stoll(page.next)};
    }
    CHECK(all == Numbers{1, 2, 3, 4, 5});
}

TEST_CASE("a page has no more spans than asked for, but for those of its last job") {
    ClusterLog log;
    for (std::int64_t job = 1; job <= 3; ++job) {
        log.submit(0, {job}, "nlp");
        log.run(1, {job}, {task(0, 0, 1)});
    }
    SpansAsked asked = between(0, 99);
    asked.spans_max = 3;
    const auto page = log.lives.page(asked);
    CHECK(numbers(page) == Numbers{1, 2});
    CHECK(page.next == "2");
}

TEST_CASE("what happened in the time is counted, not what came before it") {
    ClusterLog log;
    log.submit(0, {1}, "nlp");
    log.run(10, {1}, {task(0, 0, 4)});
    log.happen(20, model::PauseRequested{
                       {1}, model::Rule::Reclaim, {2}, {5'000, 0}, at_second(99), true, {}});
    log.happen(21, model::JobPaused{{1}, false});
    log.run(30, {1}, {task(0, 0, 4)});
    log.finish(40, {1}, JobState::Failed);
    const model::SpanCounts all = log.lives.page(between(0, 99)).counts;
    CHECK(all == model::SpanCounts{.jobs = 1,
                                   .starts = 2,
                                   .pauses = 1,
                                   .parkings = 0,
                                   .ends = 1,
                                   .failures = 1,
                                   .lost_gpu_ms = 5'000});
    const model::SpanCounts late = log.lives.page(between(25, 35)).counts;
    CHECK(late == model::SpanCounts{.jobs = 1, .starts = 1});
}

TEST_CASE("of those that ended the oldest are forgotten, and from when all is known is said") {
    ClusterLog log;
    const auto jobs = static_cast<std::int64_t>(timeline::kEndedKept) + 2;
    log.submit(0, {jobs + 1}, "nlp");
    for (std::int64_t job = 1; job <= jobs; ++job) {
        log.submit(job, {job}, "nlp");
        log.finish(job + 1, {job});
    }
    CHECK(log.lives.jobs() == timeline::kEndedKept + 1);
    CHECK(log.lives.page(between(0, 2)).known_from == at_second(3));
    CHECK_FALSE(log.lives.page(between(3, 9)).known_from);
    CHECK(log.lives.name_of({1}).empty());
    CHECK(log.lives.name_of({jobs}) == "nlp/j" + std::to_string(jobs));
}

TEST_CASE("a log that is read from its middle on is known from there") {
    timeline::Lives lives(true);
    lives.read({700, at_second(50), "test", model::JobRunning{{1}}});
    lives.read({701, at_second(51), "test", model::JobSubmitted{{2}, {}, "maria", "true"}});
    const auto page = lives.page(between(0, 99));
    CHECK(page.known_from == at_second(50));
    CHECK(numbers(page) == Numbers{2});
}
