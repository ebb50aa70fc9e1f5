// SPDX-License-Identifier: Apache-2.0
//
// What a decision remembers of earlier ones (scheduling/passes/decision_cache.h) must not outlive
// what it is about.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/rng.h"
#include "scenario/render.h"
#include "scenario/script.h"
#include "scenario/stage.h"
#include "scheduling/decide.h"

using namespace berth;

TEST_CASE("work counts otherwise from the moment the weights of GPU models change") {
    scenario::Stage stage;
    for (const char* line : {"node n gpus=4 model=A100", "project a quota=2", "project b quota=2",
                             "running a/1 on=n", "running a/2 on=n", "running a/3 on=n",
                             "running a/4 on=n", "submit b/pair gpus=2", "plan"}) {
        REQUIRE(stage.play(scenario::parse_script(line)->commands.front()).has_value());
    }
    lifecycle::State state = stage.state();
    const auto decide = [&](scheduling::DecisionCache& memory) {
        return scheduling::decide(state.cluster, stage.policy(), stage.now(), memory);
    };
    scheduling::DecisionCache memory;
    CHECK(decide(memory).pauses.size() == 2);
    const model::PoolSet half{{model::kDefaultPool, {}, {{"A100", 500}}}};
    lifecycle::apply(state, {state.sequence + 1, state.time, "test", half});
    scheduling::DecisionCache none;
    const model::Plan plan = decide(memory);
    CHECK(plan.pauses.size() == 2);
    CHECK(plan == decide(none));
}

namespace {

// A cluster that is full, three projects that take their quotas back from each other, and jobs
// enough of each that they are not all looked at (kExactUnits).
class Crowd {
  public:
    explicit Crowd(std::uint64_t seed) : dice_(seed) {
        play("policy min_runtime=40s order=levels");
        while (nodes_ < 6) join();
        for (const char* project : {"a", "b", "c"}) {
            play("project " + std::string(project) + " quota=16");
        }
        for (int i = 0; i < 60; ++i) submit();
    }

    void go_on() {
        if (nodes_ < 9 && dice_.index(30) == 0) join();
        switch (dice_.index(6)) {
            case 0:
            case 1: submit(); break;
            case 2: play("advance " + std::to_string(dice_.between(1, 50)) + "s"); break;
            case 3: play_of("finish ", model::JobState::Running); break;
            case 4: play_of("save ", model::JobState::Running); break;
            default: play_of("left ", model::JobState::Pausing);
        }
    }
    std::vector<std::string> play(const std::string& line) {
        CAPTURE(line);
        const auto printed = stage.play(scenario::parse_script(line)->commands.front());
        REQUIRE(printed.has_value());
        return *printed;
    }

    scenario::Stage stage;

  private:
    void join() { play("node n" + std::to_string(nodes_++) + " gpus=8"); }
    void submit() {
        const std::string project(1, static_cast<char>('a' + dice_.index(3)));
        const int gpus = dice_.index(4) == 0 ? 1 << dice_.index(4) : 1;
        const bool is_elastic = dice_.index(6) == 0;
        play("submit " + project + "/" + std::to_string(jobs_++) + " gpus=" + std::to_string(gpus) +
             (is_elastic ? " min=1 max=4" : ""));
    }
    void play_of(const std::string& verb, model::JobState state) {
        std::vector<std::string> found;
        for (const auto& [id, job] : stage.state().jobs) {
            if (job.state == state) found.push_back(job.spec.project + "/" + job.spec.name);
        }
        if (!found.empty()) play(verb + found[dice_.index(found.size())]);
    }

    base::Rng dice_;
    int jobs_ = 0;
    int nodes_ = 0;
};

}  // namespace

TEST_CASE("with a memory and without it the same is decided, all along the life of a cluster") {
    int pauses = 0;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        CAPTURE(seed);
        Crowd crowd(seed);
        for (int event = 0; event < 120; ++event) {
            CAPTURE(event);
            lifecycle::State copy = crowd.stage.state();
            scheduling::DecisionCache none;
            const model::Plan plan =
                scheduling::decide(copy.cluster, crowd.stage.policy(), crowd.stage.now(), none);
            const std::vector<std::string> expected = scenario::render(copy, plan);
            std::vector<std::string> decided = crowd.play("decide");
            decided.resize(expected.size());
            REQUIRE(decided == expected);
            pauses += static_cast<int>(plan.pauses.size());
            crowd.go_on();
        }
    }
    CHECK(pauses > 40);
}
