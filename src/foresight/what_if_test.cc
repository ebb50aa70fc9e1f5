// SPDX-License-Identifier: Apache-2.0
#include "foresight/what_if.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace berth;
using base::JobId;
using model::Fate;

namespace {

constexpr JobId kBuild{1};
constexpr JobId kTrain{2};

// Two nodes of two GPUs, one GPU of each in use: `build` may not be paused, `train` may move.
class TwoHalfNodes {
  public:
    TwoHalfNodes() {
        policy.priced_moves = false;
        add_node("n0");
        add_node("n1");
        model::Project project;
        project.name = "p";
        project.rights.quota = {4000};
        happen(model::ProjectSet{project});
        model::JobSpec build = spec("build", 1);
        build.kind = model::JobKind::Build;
        run(kBuild, build, "n0");
        run(kTrain, spec("train", 1), "n1");
    }

    static model::JobSpec spec(const std::string& name, int gpus) {
        model::JobSpec spec;
        spec.name = name;
        spec.project = "p";
        spec.request.gpus = gpus;
        return spec;
    }

    model::WhatIf what_if(const model::Hypothesis& hypothesis) const {
        auto found = foresight::what_if(state, std::span(&hypothesis, 1), policy, state.time);
        REQUIRE(found);
        return found->what_if;
    }

    lifecycle::State state;
    model::Policy policy;

  private:
    void happen(model::EventBody body) {
        REQUIRE(lifecycle::try_apply(
            state, {state.sequence + 1, base::at_ms(1000), "test", std::move(body)}));
    }

    void add_node(const std::string& name) {
        model::Node node;
        node.name = name;
        node.gpus = 2;
        happen(model::NodeSet{node});
    }

    void run(JobId job, const model::JobSpec& spec, const std::string& node) {
        happen(model::JobSubmitted{job, spec, {}, {}});
        happen(model::JobStarting{
            job, 1, {}, {{0, state.cluster.find_node(node), 1, base::kWholeGpu, {}, {}}}});
        happen(model::JobRunning{job});
    }
};

const model::JobFate& fate_then(const model::WhatIf& what_if, JobId job) {
    const auto found = std::ranges::find(what_if.jobs, job, &model::FateChange::job);
    REQUIRE(found != what_if.jobs.end());
    return found->then;
}

}  // namespace

TEST_CASE("a job that moves for a supposed one is listed with where it goes, and for whom") {
    TwoHalfNodes nodes;
    const JobId supposed{nodes.state.last_job.value + 1};
    const model::WhatIf what_if = nodes.what_if({.spec = TwoHalfNodes::spec("pair", 2)});

    const model::JobFate& moved = fate_then(what_if, kTrain);
    CHECK(moved.fate == Fate::Moves);
    CHECK(moved.beneficiary == supposed);
    REQUIRE(moved.tasks.size() == 1);
    CHECK(moved.tasks[0].node == nodes.state.cluster.find_node("n0"));
    CHECK(moved.tasks[0].gpu_mask == 0b10);
    CHECK(fate_then(what_if, supposed).fate == Fate::Promised);
    CHECK(what_if.jobs.size() == 2);  // the build stays
}
