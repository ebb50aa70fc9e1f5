// SPDX-License-Identifier: Apache-2.0
//
// Does a search see what look_again() opens?
#include "scheduling/victims/victims.h"

#include <doctest/doctest.h>

namespace berth::scheduling {
namespace {

constexpr PoolId kOnlyPool{0};
constexpr JobId kStarting{1}, kRunning{2}, kOwners{3};
constexpr TimePoint kToday = base::at_ms(1'000'000'000);

// One node of two GPUs, lent to two jobs. The owner of both wants them for one task.
class LentNode {
  public:
    LentNode() : view_((fill(), view_pool(cluster, policy_, kToday, kOnlyPool))) {}

    // `unseen`: jobs that started since victims were first looked for.
    bool finds_victims(const JobSet& unseen) {
        view_.unseen = &unseen;
        search_.look_again();
        const cluster::Job& job = cluster.job(kOwners);
        const Beneficiary owner{job, 1, base::gpus(2), model::Rule::Reclaim};
        return !search_.find(owner).units.empty();
    }
    void open() { search_.open(view_); }

    cluster::Cluster cluster;

  private:
    void fill() {
        model::Node node;
        node.name = "n0";
        node.gpus = 2;
        cluster.set_node(node);
        for (const auto& [name, quota] : {std::pair("guest", 0), std::pair("owner", 2)}) {
            model::Project project;
            project.name = name;
            project.rights.quota = base::gpus(quota);
            cluster.set_project(project);
        }
        for (const JobId id : {kStarting, kRunning, kOwners}) {
            model::JobSpec spec;
            spec.project = id == kOwners ? "owner" : "guest";
            spec.request.gpus = id == kOwners ? 2 : 1;
            cluster.add_job(id, spec, kToday);
        }
        for (const JobId id : {kStarting, kRunning}) {
            const std::uint64_t gpu = id == kStarting ? 1 : 2;
            const model::TaskPlacement task{0, {0}, gpu, base::kWholeGpu, {}, {}};
            cluster.place(id, kOnlyPool, std::span(&task, 1));
            cluster.set_started(id, kToday - base::Duration{100'000'000});
        }
    }

    model::Policy policy_ = model::berth_policy();
    PoolView view_;
    VictimSearch search_;
};

}  // namespace

TEST_CASE("what is not found while a job is unseen is found when it is seen") {
    LentNode world;
    world.open();
    const JobSet none;
    const JobSet starting{kStarting};
    CHECK_FALSE(world.finds_victims(starting));
    CHECK(world.finds_victims(none));
}

}  // namespace berth::scheduling
