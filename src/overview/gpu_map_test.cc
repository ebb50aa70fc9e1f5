// SPDX-License-Identifier: Apache-2.0
#include "overview/gpu_map.h"

#include <doctest/doctest.h>

#include "overview/cluster_of_test.h"

using namespace berth;
using model::GpuUse;
using model::JobId;

namespace {

using Uses = std::vector<GpuUse>;

Uses uses_of(const overview::GpuMap& map) {
    Uses uses;
    for (const overview::GpuPart& part : map.gpus) uses.push_back(part.use);
    return uses;
}

constexpr GpuUse kFree = GpuUse::Free;
constexpr GpuUse kRuns = GpuUse::NotMeasured;
constexpr GpuUse kBlocked = GpuUse::BlockedByRoom;

}  // namespace

TEST_CASE("each GPU has its job and what it does, in the order of nodes") {
    overview::ClusterOfTest cluster;
    const JobId runs = cluster.run("vision", 0, 1, 2, "ann");
    const JobId leaves = cluster.run("nlp", 1, 0, 1, "ann");
    const JobId starts = cluster.submit("nlp", 1, "ann");
    cluster.start(starts, 1, 3, 1);
    cluster.happen(model::CancelRequested{leaves, {}, {}});
    const overview::GpuMap map = overview::gpu_map_of(cluster.state);
    CHECK(map.first == std::vector<std::size_t>{0, 4});
    CHECK(uses_of(map) ==
          Uses{kFree, kRuns, kRuns, kFree, GpuUse::Leaving, kFree, kFree, GpuUse::Starting});
    CHECK(map.gpus[1].job == runs);
    CHECK(cluster.state.cluster.projects()[map.gpus[1].project.index()].project.name == "vision");
    CHECK(map.gpus[7].job == starts);
    CHECK_FALSE(map.gpus[0].job.is_valid());
    CHECK(map.shared.empty());
}

TEST_CASE(
    "a free GPU is blocked while a job waits that asks more, and unhealthy on a node that is "
    "down") {
    overview::ClusterOfTest cluster;
    cluster.run("vision", 0, 0, 3, "ann");
    cluster.submit("vision", 4, "ann");
    cluster.set_node("n1", model::NodeHealth::Down);
    const GpuUse ill = GpuUse::Unhealthy;
    CHECK(uses_of(overview::gpu_map_of(cluster.state)) ==
          Uses{kRuns, kRuns, kRuns, kBlocked, ill, ill, ill, ill});
}

TEST_CASE("a shared GPU shows its largest part, and lists all with what is free") {
    overview::ClusterOfTest cluster;
    for (const int milli : {250, 500}) {
        const JobId id = cluster.submit("nlp", 1, "ann");
        model::TaskPlacement task;
        task.node = {0};
        task.gpu_mask = 4;
        task.share = base::MilliGpu{milli};
        cluster.happen(model::JobStarting{id, 1, model::Rule::Allocate, {task}});
    }
    const overview::GpuMap map = overview::gpu_map_of(cluster.state);
    REQUIRE(map.shared.size() == 3);
    for (const overview::SharedPart& each : map.shared) CHECK(each.gpu == 2);
    CHECK(map.shared[0].part.amount == base::MilliGpu{250});
    CHECK(map.shared[1].part.amount == base::MilliGpu{500});
    CHECK(map.shared[2].part.amount == base::MilliGpu{250});
    CHECK(map.shared[2].part.use == GpuUse::Free);
    CHECK(map.gpus[2].job == map.shared[1].part.job);
}
