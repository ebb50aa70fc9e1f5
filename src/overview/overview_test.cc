// SPDX-License-Identifier: Apache-2.0
#include "overview/overview.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "overview/cluster_of_test.h"

using namespace berth;
using model::JobId;

namespace {

using Cluster = overview::ClusterOfTest;
using Said = std::vector<std::string>;

}  // namespace

TEST_CASE("before the first job there are idle GPUs to speak of") {
    const Cluster cluster;
    CHECK(cluster.said_to("ann") ==
          Said{"No job has run yet.", "No job waits; 8 of 8 GPUs are idle."});
}

TEST_CASE("a user hears of the user's own jobs first, then of all that wait") {
    Cluster cluster;
    cluster.run("vision", 0, 0, 2, "ann");
    CHECK(cluster.said_to("ann") == Said{"Your job runs.", "No job waits; 6 of 8 GPUs are idle."});
    CHECK(cluster.said_to("bob").front() == "You have no job that runs or waits.");
    cluster.run("vision", 0, 2, 1, "ann");
    CHECK(cluster.said_to("ann").front() == "All 2 of your jobs run.");
    cluster.submit("vision", 4, "ann");
    cluster.run("vision", 1, 0, 2, "bob");
    CHECK(cluster.said_to("ann") ==
          Said{"2 of your 3 jobs run; 1 waits.",
               "1 job waits for 4 GPUs; 3 of 8 GPUs are idle, no more than 2 together."});
    cluster.submit("vision", 4, "carl");
    CHECK(cluster.said_to("carl").front() == "Your job waits.");
}

TEST_CASE("a name that could be read as more than one is in quotes") {
    Cluster cluster;
    cluster.set_project("a 9; b", 0);
    cluster.run("a 9; b", 0, 0, 1, "eve");
    CHECK(cluster.said_to("eve").back() ==
          "Above quota: \"a 9; b\" 1; unused quota: vision 6, and nlp 2.");
}

TEST_CASE("who is above its quota is named beside who leaves some of its own") {
    Cluster cluster;
    cluster.run("nlp", 0, 0, 4, "bob");
    cluster.run("nlp", 1, 0, 1, "bob");
    CHECK(cluster.said_to("bob").back() == "Above quota: nlp 3; unused quota: vision 6.");
    for (int i = 0; i < 4; ++i) {
        const std::string name = "p" + std::to_string(i);
        cluster.set_project(name, 0);
    }
    cluster.run("p0", 1, 1, 1, "bob");
    cluster.run("p1", 1, 2, 1, "bob");
    cluster.run("p2", 1, 3, 1, "bob");
    CHECK(cluster.said_to("ann") ==
          Said{"You have no job that runs or waits.", "No job waits; all 8 GPUs are in use.",
               "Above quota: nlp 3, p0 1, p1 1, and others 1; unused quota: vision 6."});
}

TEST_CASE("what waits wants what it asks at least, once, and what runs wants nothing") {
    Cluster cluster;
    model::JobSpec spec;
    spec.name = "grows";
    spec.project = "vision";
    spec.request.gpus = 1;
    spec.tasks_max = 8;
    const JobId grows{1};
    cluster.happen(model::JobSubmitted{grows, spec, "ann", "python train.py"});
    CHECK(overview::overview_of(cluster.state).wanted == base::gpus(1));
    cluster.start(grows, 0, 0, 1);
    cluster.happen(model::JobRunning{grows});
    CHECK(overview::overview_of(cluster.state).wanted == base::gpus(0));
    cluster.submit("nlp", 4, "bob");
    const JobId on_hold = cluster.submit("nlp", 4, "bob");
    cluster.happen(model::JobHeld{on_hold});
    const overview::Overview seen = overview::overview_of(cluster.state);
    CHECK(seen.wanted == base::gpus(4));
    CHECK(seen.projects[1].wanted == base::gpus(4));
    CHECK(cluster.said_to("bob").front() ==
          "None of your 2 jobs runs; 1 waits, and 1 is on hold until you resume it.");
    cluster.submit("nlp", 0, "carl");
    cluster.happen(model::JobHeld{JobId{2}});
    CHECK(cluster.said_to("carl")[1] == "1 job waits for CPU or memory; 7 of 8 GPUs are idle.");
}

TEST_CASE("what runs on a drained node is used, and its quota stays what was promised") {
    Cluster cluster;
    cluster.run("nlp", 0, 0, 4, "bob");
    cluster.set_node("n0", model::NodeHealth::Drained);
    cluster.set_node("n1", model::NodeHealth::Drained);
    const overview::Overview seen = overview::overview_of(cluster.state);
    CHECK(seen.gpus.used == base::gpus(4));
    CHECK(seen.gpus.not_ready == base::gpus(4));
    CHECK(seen.projects[1].quota == base::gpus(2));
    CHECK(cluster.said_to("bob").back() == "Above quota: nlp 2; unused quota: vision 6.");
}

TEST_CASE("each GPU counts once, whatever it does") {
    Cluster cluster;
    cluster.run("vision", 0, 0, 2, "ann");
    const JobId leaves = cluster.run("vision", 0, 2, 1, "ann");
    const JobId starts = cluster.submit("vision", 1, "ann");
    cluster.start(starts, 0, 3, 1);
    cluster.happen(model::CancelRequested{leaves, {}, {}});
    cluster.set_node("n1", model::NodeHealth::Down);
    const overview::Overview seen = overview::overview_of(cluster.state);
    CHECK(seen.gpus.total == base::gpus(8));
    CHECK(seen.gpus.used == base::gpus(2));
    CHECK(seen.gpus.leaving == base::gpus(1));
    CHECK(seen.gpus.starting == base::gpus(1));
    CHECK(seen.gpus.idle == base::gpus(0));
    CHECK(seen.gpus.not_ready == base::gpus(4));
    CHECK(cluster.said_to("ann") == Said{"2 of your 3 jobs run; 1 is leaving its GPUs.",
                                         "No job waits; all 4 GPUs are in use.",
                                         "4 GPUs are not ready."});
}

TEST_CASE("the map says how much is allocated, then what is free and what is not ready") {
    Cluster cluster;
    const auto said = [&](base::MilliGpu idle = {}) {
        return overview::map_sentences(overview::gpu_counts_of(cluster.state), idle);
    };
    CHECK(said() == Said{"No GPU is allocated.", "Free: 8, no more than 4 together."});
    cluster.run("vision", 0, 0, 2, "ann");
    CHECK(said() == Said{"2 of 8 GPUs are allocated.", "Free: 6, no more than 4 together."});
    cluster.set_node("n1", model::NodeHealth::Down);
    CHECK(said(base::gpus(1)) ==
          Said{"2 of 4 GPUs are allocated, 1 of them idle.", "Free: 2.", "Not ready: 4."});
    cluster.set_node("n0", model::NodeHealth::Down);
    CHECK(said() == Said{"2 of 2 GPUs are allocated.", "Not ready: 6."});
    CHECK(overview::map_sentences({}, {}) == Said{"There is no GPU."});
}
