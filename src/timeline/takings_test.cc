// SPDX-License-Identifier: Apache-2.0
#include "timeline/takings.h"

#include <doctest/doctest.h>

using namespace berth;
using model::JobId;

namespace {

class Log {
  public:
    void happen(model::EventBody body) {
        ++sequence_;
        takings.read({sequence_, base::at_ms(sequence_ * 1'000), "scheduler", std::move(body)});
    }
    void take(JobId from, const std::string& own, JobId winner, const std::string& other) {
        model::PauseRequested request;
        request.job = from;
        request.beneficiary = winner;
        request.sides = {"default",
                         {own, base::gpus(8), base::gpus(2)},
                         {other, base::gpus(0), base::gpus(6)},
                         base::gpus(4)};
        happen(request);
    }
    std::vector<JobId> jobs_of(const std::string& project) const {
        std::vector<JobId> jobs;
        for (const model::Taking& taking : takings.of(project)) jobs.push_back(taking.job);
        return jobs;
    }

    timeline::Takings takings;

  private:
    std::int64_t sequence_ = 0;
};

using Jobs = std::vector<JobId>;

}  // namespace

TEST_CASE("a taking is listed for who gave and for who got, the newest in front") {
    Log log;
    log.take(JobId{1}, "nlp", JobId{9}, "vision");
    log.take(JobId{2}, "lab", JobId{9}, "vision");
    log.take(JobId{1}, "nlp", JobId{8}, "lab");
    CHECK(log.jobs_of("vision") == Jobs{JobId{2}, JobId{1}});
    CHECK(log.jobs_of("nlp") == Jobs{JobId{1}, JobId{1}});
    CHECK(log.jobs_of("lab") == Jobs{JobId{1}, JobId{2}});
    CHECK(log.jobs_of("") == Jobs{JobId{1}, JobId{2}, JobId{1}});
    CHECK(log.jobs_of("speech").empty());
}

TEST_CASE("a taking has what became of it") {
    Log log;
    log.happen(model::JobStarting{JobId{1}, 3, model::Rule::Allocate, {}});
    log.take(JobId{1}, "nlp", JobId{9}, "vision");
    log.happen(model::JobPaused{JobId{1}, true});
    const model::Taking taking = log.takings.of("nlp").front();
    CHECK(taking.saved);
    CHECK(taking.stopped == base::at_ms(3'000));
    CHECK(taking.beneficiary == JobId{9});
    CHECK(taking.sides->other.project == "vision");
}

TEST_CASE("a pause that a user asked for takes nothing for anyone") {
    Log log;
    model::PauseRequested request;
    request.job = JobId{1};
    request.rule = model::Rule::User;
    log.happen(request);
    CHECK(log.jobs_of("").empty());
}

TEST_CASE("only the jobs that were paused last are remembered") {
    Log log;
    const auto jobs = static_cast<std::int64_t>(timeline::kJobsTaken) + 5;
    for (std::int64_t job = 1; job <= jobs; ++job) log.take(JobId{job}, "nlp", JobId{0}, "lab");
    CHECK(log.jobs_of("").size() == timeline::kTakingsShown);
    CHECK(log.jobs_of("").front() == JobId{jobs});
}
