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

namespace {

// One node of eight GPUs: nlp uses six of them with a quota of two, vision waits for four.
class Borrowed {
  public:
    Borrowed() {
        model::Node node;
        node.name = "n0";
        node.gpus = 8;
        happen(model::NodeSet{node});
        set_quota("vision", 0);
        set_quota("nlp", 2);
        run(JobId{1}, 2, 0b11);
        run(JobId{2}, 4, 0b111100);
        submit(JobId{3}, "vision", 4);
    }

    void set_quota(const std::string& name, int quota) {
        model::Project project;
        project.name = name;
        project.rights.quota = base::gpus(quota);
        happen(model::ProjectSet{project});
    }
    base::Result<foresight::Comparison> suppose(const model::Hypothesis& hypothesis) const {
        return foresight::what_if(state, std::span(&hypothesis, 1), {}, state.time);
    }

    lifecycle::State state;

  private:
    void happen(model::EventBody body) {
        REQUIRE(lifecycle::try_apply(
            state, {state.sequence + 1, base::at_ms(1000), "test", std::move(body)}));
    }
    void submit(JobId job, const std::string& project, int gpus) {
        model::JobSpec spec;
        spec.name = project;
        spec.project = project;
        spec.request.gpus = gpus;
        happen(model::JobSubmitted{job, spec, {}, {}});
    }
    void run(JobId job, int gpus, std::uint64_t mask) {
        submit(job, "nlp", gpus);
        happen(model::JobStarting{
            job, 1, {}, {{0, state.cluster.find_node("n0"), mask, base::kWholeGpu, {}, {}}}});
        happen(model::JobRunning{job});
    }
};

const model::ShareChange& share_of(const model::WhatIf& what_if, const std::string& project) {
    const auto found = std::ranges::find(what_if.projects, project, &model::ShareChange::project);
    REQUIRE(found != what_if.projects.end());
    return *found;
}

}  // namespace

TEST_CASE("a quota that is raised says who pauses, who starts and what projects have then") {
    const Borrowed cluster;
    const auto compared = cluster.suppose(
        {.what = model::Supposition::Quota, .name = "vision", .gpus = base::gpus(4)});
    REQUIRE(compared);
    const model::WhatIf& what_if = compared->what_if;
    CHECK(what_if.sentence ==
          "1 job would pause, and 1 would start; no job would wait, now 1 does.");
    CHECK(fate_then(what_if, JobId{2}).fate == Fate::Pauses);
    CHECK(fate_then(what_if, JobId{3}).fate == Fate::Promised);
    const model::ShareChange& vision = share_of(what_if, "vision");
    CHECK(vision.now.quota == base::gpus(0));
    CHECK(vision.then.quota == base::gpus(4));
    CHECK(vision.now.used == base::gpus(0));
    CHECK(vision.then.used == base::gpus(4));
    CHECK(vision.now.waiting == base::gpus(4));
    CHECK(vision.then.waiting == base::gpus(0));
    const model::ShareChange& nlp = share_of(what_if, "nlp");
    CHECK(nlp.now.used == base::gpus(6));
    CHECK(nlp.then.used == base::gpus(2));
    CHECK(nlp.then.waiting == base::gpus(4));
    CHECK(what_if.projects.size() == 2);
}

TEST_CASE(
    "a weight and a limit can be supposed, and a project that keeps what it has is not listed") {
    const Borrowed cluster;
    const auto weight = cluster.suppose(
        {.what = model::Supposition::Weight, .name = "nlp", .weight_thousandths = 3000});
    REQUIRE(weight);
    CHECK(share_of(weight->what_if, "nlp").then.weight_thousandths == 3000);
    const auto limit = cluster.suppose(
        {.what = model::Supposition::Limit, .name = "vision", .gpus = base::gpus(3)});
    REQUIRE(limit);
    REQUIRE(limit->what_if.projects.size() >= 1);
    CHECK(share_of(limit->what_if, "vision").then.limit == base::gpus(3));
    CHECK(limit->what_if.sentence == "No job would start or pause; 1 job waits as before.");
}

TEST_CASE("a pool and a project that are not there are errors") {
    const Borrowed cluster;
    const auto pool = cluster.suppose(
        {.what = model::Supposition::Quota, .name = "nlp", .pool = "h200", .gpus = base::gpus(4)});
    REQUIRE_FALSE(pool);
    CHECK(pool.error().message == "pool \"h200\" does not exist");
    CHECK_FALSE(cluster.suppose({.what = model::Supposition::Weight, .name = "lab"}));
}
