// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_facts.h"

#include <doctest/doctest.h>

namespace berth::cli {
namespace {

using model::JobId;

// A small log: one line an event, a millisecond apart.
class Log {
  public:
    Log& add(model::EventBody body) {
        const auto number = static_cast<std::int64_t>(events_.size()) + 1;
        events_.push_back({number, base::at_ms(number), "test", std::move(body)});
        return *this;
    }
    Log& submit(std::int64_t job, const char* project) {
        model::JobSpec spec;
        spec.name = project + std::to_string(job);
        spec.project = project;
        return add(model::JobSubmitted{JobId{job}, spec, "maria", "train"});
    }
    Log& start(std::int64_t job, int gpu, int attempt = 1) {
        model::JobStarting event;
        event.job = JobId{job};
        event.attempt = attempt;
        event.tasks.push_back({.node = model::NodeId{0},
                               .gpu_mask = std::uint64_t{1} << gpu,
                               .share = base::kWholeGpu});
        return add(event).add(model::JobRunning{JobId{job}});
    }
    Log& pause(std::int64_t job, bool saved = true) {
        return add(model::JobPaused{JobId{job}, saved});
    }
    Log& end(std::int64_t job) {
        model::JobFinished event;
        event.job = JobId{job};
        return add(event);
    }
    DemoFacts facts() const { return facts_of(events_); }

  private:
    std::vector<model::Event> events_;
};

}  // namespace

TEST_CASE("waits, pauses and who held what are read from the events") {
    const DemoFacts facts = Log()
                                .submit(1, "susan")
                                .submit(2, "susan")
                                .start(1, 0)
                                .start(2, 1)
                                .submit(3, "joe")
                                .pause(2)
                                .start(3, 1)
                                .end(3)
                                .start(2, 1, 2)
                                .end(1)
                                .end(2)
                                .facts();
    CHECK(facts.held_max == base::gpus(2));
    CHECK(facts.gpu_held_max == base::kWholeGpu);
    CHECK(facts.held_min.at("susan") == base::gpus(1));
    CHECK(facts.jobs.at(JobId{2}).pauses == 1);
    CHECK(facts.jobs.at(JobId{2}).attempts == 2);
    CHECK(facts.jobs.at(JobId{2}).away.count() == 4);
    CHECK(facts.jobs.at(JobId{3}).wait.count() == 3);
    CHECK(facts.jobs.at(JobId{3}).succeeded);
}

TEST_CASE("a GPU given to two jobs at once does not go unnoticed") {
    const DemoFacts facts = Log().submit(1, "a").submit(2, "b").start(1, 0).start(2, 0).facts();
    CHECK(facts.gpu_held_max == base::gpus(2));
}

TEST_CASE("steps done twice and steps left out are counted") {
    const std::vector<std::string> whole{"step 1 loss 2\nstep 2 loss 1\nsaved\n",
                                         "step 3\nstep 4\n"};
    CHECK(steps_in(whole).done == 4);
    CHECK(steps_in(whole).repeated == 0);
    CHECK(steps_in(whole).missing == 0);
    const std::vector<std::string> torn{"step 1\nstep 2\nstep 3\n", "step 3\nstep 5\n"};
    CHECK(steps_in(torn).repeated == 1);
    CHECK(steps_in(torn).missing == 1);
    CHECK(steps_in(torn).last == 5);
}

TEST_CASE("a claim that does not hold is reported") {
    DemoStory story{.borrower = "susan",
                    .owners = {"joe"},
                    .quota = base::gpus(1),
                    .gpus = base::gpus(2),
                    .steps = 2};
    const DemoFacts facts = Log()
                                .submit(1, "susan")
                                .submit(2, "joe")
                                .start(1, 0)
                                .pause(1, false)
                                .start(2, 0)
                                .end(2)
                                .start(1, 0, 2)
                                .end(1)
                                .facts();
    const std::vector<std::string> logs{"step 1\n", "step 1\nstep 2\n"};
    const auto promises = judge(story, facts, {{JobId{1}, steps_in(logs)}});
    REQUIRE(promises.size() == 6);
    CHECK_FALSE(promises[0].is_kept);  // never both GPUs
    CHECK(promises[1].is_kept);        // joe ran
    CHECK_FALSE(promises[2].is_kept);  // killed
    CHECK_FALSE(promises[3].is_kept);  // held nothing
    CHECK_FALSE(promises[4].is_kept);  // step 1 twice
    CHECK(promises[5].is_kept);        // all ended well
}

TEST_CASE("owners that wait longer than half a second were not served") {
    const DemoStory story{.borrower = "susan", .owners = {"joe"}};
    DemoFacts facts = Log().submit(1, "joe").start(1, 0).end(1).facts();
    facts.jobs.at(JobId{1}).wait = kOwnerWaitMax;
    CHECK(judge(story, facts, {})[1].is_kept);
    facts.jobs.at(JobId{1}).wait += base::Duration{1};
    CHECK_FALSE(judge(story, facts, {})[1].is_kept);
}

}  // namespace berth::cli
