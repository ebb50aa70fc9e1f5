// SPDX-License-Identifier: Apache-2.0
#include "overview/lending.h"

#include <doctest/doctest.h>

#include "lifecycle/apply.h"

using namespace berth;
using base::gpus;
using model::JobId;
using overview::Lending;

namespace {

// Two nodes of eight GPUs.
class LendingCluster {
  public:
    LendingCluster() {
        for (const char* name : {"n0", "n1"}) set_node(name, model::NodeHealth::Ready);
    }

    void set_node(const std::string& name, model::NodeHealth health) {
        model::Node node;
        node.name = name;
        node.gpus = 8;
        node.health = health;
        happen(model::NodeSet{node});
    }
    void set_project(const std::string& name, int quota, const std::string& parent = "",
                     model::QuotaKind kind = model::QuotaKind::Guaranteed) {
        model::Project project;
        project.name = name;
        project.parent = parent;
        project.rights.quota = gpus(quota);
        project.rights.kind = kind;
        happen(model::ProjectSet{project});
    }
    JobId submit(const std::string& project, int asked) {
        model::JobSpec spec;
        spec.name = "job";
        spec.project = project;
        spec.request.gpus = asked;
        const JobId id{state.last_job.value + 1};
        happen(model::JobSubmitted{id, spec, "ann", "python train.py"});
        return id;
    }
    void run(const std::string& project, int node, int first, int many) {
        const JobId id = submit(project, many);
        model::TaskPlacement task;
        task.node = {static_cast<base::NodeId::Rep>(node)};
        task.gpu_mask = ((1U << static_cast<unsigned>(many)) - 1) << static_cast<unsigned>(first);
        task.share = base::kWholeGpu;
        happen(model::JobStarting{id, 1, model::Rule::Allocate, {task}});
    }

    // Both sides have to be the same.
    Lending lending() const {
        const Lending seen = overview::lending_of(state.cluster, base::PoolId{0});
        CHECK(seen.lent() + seen.in_no_quota + seen.not_ready ==
              seen.borrowed() + seen.free + seen.not_there);
        return seen;
    }
    std::vector<std::string> said() const {
        std::vector<std::string> said;
        for (const auto& sentence : overview::lending_sentences(lending())) {
            said.push_back(sentence.text);
        }
        return said;
    }

    lifecycle::State state;

  private:
    void happen(model::EventBody body) {
        lifecycle::apply(state, {state.sequence + 1, {}, "test", std::move(body)});
    }
};

using LendingSaid = std::vector<std::string>;

}  // namespace

TEST_CASE("without quotas nothing is lent, and the sentence says so") {
    LendingCluster cluster;
    cluster.set_project("default", 0);
    cluster.run("default", 0, 0, 2);
    CHECK(cluster.said() == LendingSaid{"No project has a quota: jobs start while GPUs are free."});
    CHECK(cluster.lending().in_no_quota == gpus(16));
    CHECK(cluster.lending().free == gpus(14));
}

TEST_CASE("who borrows is said first, then who lends, what is promised and who waits for its own") {
    LendingCluster cluster;
    cluster.set_project("vision", 6);
    cluster.set_project("nlp", 4);
    cluster.set_project("lab", 0);
    CHECK(cluster.said() ==
          LendingSaid{"No project is above its quota.", "vision and nlp could lend 10 GPUs.",
                      "Quotas sum to 10 of 16 GPUs.", "No project waits for GPUs of its quota."});
    cluster.run("nlp", 0, 0, 8);
    cluster.run("lab", 1, 0, 7);
    cluster.submit("vision", 8);
    CHECK(cluster.said() == LendingSaid{"lab and nlp borrow 11 GPUs.", "vision lends 6.",
                                        "Quotas sum to 10 of 16 GPUs.",
                                        "vision waits for 6 GPUs of its quota."});
    const Lending seen = cluster.lending();
    CHECK(seen.in_no_quota == gpus(6));
    CHECK(seen.free == gpus(1));
}

TEST_CASE("of many that borrow three are named, and a name that is more than a word is in quotes") {
    LendingCluster cluster;
    cluster.set_project("vision", 8);
    for (const char* name : {"a", "b c", "d", "e", "f"}) cluster.set_project(name, 0);
    cluster.run("a", 0, 0, 1);
    cluster.run("b c", 0, 1, 2);
    cluster.run("d", 0, 3, 1);
    CHECK(cluster.said().front() == "\"b c\", a and d borrow 4 GPUs.");
    cluster.run("e", 0, 4, 1);
    CHECK(cluster.said().front() == "\"b c\", a, d and 1 other borrow 5 GPUs.");
    cluster.run("f", 0, 5, 1);
    CHECK(cluster.said().front() == "\"b c\", a, d and 2 others borrow 6 GPUs.");
}

TEST_CASE("a fixed quota is kept and not lent") {
    LendingCluster cluster;
    cluster.set_project("serving", 4, "", model::QuotaKind::Fixed);
    cluster.run("serving", 0, 0, 1);
    const Lending seen = cluster.lending();
    CHECK(seen.lenders.empty());
    CHECK(seen.kept == gpus(3));
    CHECK(seen.free == gpus(12));
    CHECK(cluster.said()[1] == "No project leaves quota unused.");
}

TEST_CASE("a department lends what it promises to no project below it") {
    LendingCluster cluster;
    cluster.set_project("research", 8);
    cluster.set_project("vision", 4, "research");
    cluster.run("vision", 0, 0, 6);
    const Lending seen = cluster.lending();
    REQUIRE(seen.lenders.size() == 1);
    CHECK(seen.lenders.front().project == "research");
    CHECK(seen.lenders.front().gpus == gpus(4));
    CHECK(seen.borrowed() == gpus(2));
    CHECK(seen.free == gpus(10));
}

TEST_CASE("what is promised twice is not there") {
    LendingCluster cluster;
    cluster.set_project("vision", 12);
    cluster.set_project("nlp", 12);
    CHECK(cluster.said()[2] == "Quotas sum to 24 GPUs, 16 are there.");
    CHECK(cluster.lending().not_there == gpus(8));
    cluster.run("nlp", 0, 0, 8);
    CHECK(cluster.lending().lent() == gpus(16));
    CHECK(cluster.lending().free == gpus(8));
    CHECK(cluster.lending().not_there == gpus(8));
}

TEST_CASE("what runs on a drained node is used, and what is free there is not there") {
    LendingCluster cluster;
    cluster.set_project("vision", 8);
    cluster.set_project("nlp", 8);
    cluster.run("nlp", 0, 0, 8);
    cluster.run("nlp", 1, 0, 4);
    cluster.set_node("n1", model::NodeHealth::Drained);
    const Lending seen = cluster.lending();
    CHECK(seen.capacity == gpus(8));
    CHECK(seen.borrowed() == gpus(4));
    CHECK(seen.free == gpus(0));
    CHECK(seen.not_there == gpus(4));
    cluster.set_project("vision", 0);
    cluster.set_project("nlp", 0);
    CHECK(cluster.lending().not_ready == gpus(4));
}
