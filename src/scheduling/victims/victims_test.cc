// SPDX-License-Identifier: Apache-2.0
//
// Does a search see what look_again() opens, and every node that could help?
#include "scheduling/victims/victims.h"

#include <doctest/doctest.h>

namespace berth::scheduling {
namespace {

constexpr PoolId kOnlyPool{0};
constexpr JobId kOwners{1}, kStarting{2};  // those lent to others follow it
constexpr TimePoint kToday = base::at_ms(1'000'000'000);

// Nodes of two GPUs. Of each node one or both are lent, each to a job of its own; the owner wants
// all of them for a task on every node.
class LentNodes {
  public:
    LentNodes(int nodes, int lent)
        : nodes_(nodes), view_((fill(lent), view_pool(cluster, policy_, kToday, kOnlyPool))) {}

    // `unseen`: jobs that started since victims were first looked for.
    bool finds_victims(const JobSet& unseen) {
        view_.unseen = &unseen;
        search_.look_again();
        const cluster::Job& job = cluster.job(kOwners);
        const Beneficiary owner{job, nodes_, base::gpus(2 * nodes_), model::Rule::Reclaim};
        return !search_.find(owner).units.empty();
    }
    void open() { search_.open(view_); }

    cluster::Cluster cluster;

  private:
    void fill(int lent) {
        for (int at = 0; at < nodes_; ++at) {
            model::Node node;
            node.name = "n" + std::to_string(at);
            node.gpus = 2;
            cluster.set_node(node);
        }
        for (const auto& [name, quota] : {std::pair("guest", 0), std::pair("owner", 2 * nodes_)}) {
            model::Project project;
            project.name = name;
            project.rights.quota = base::gpus(quota);
            cluster.set_project(project);
        }
        model::JobSpec wanted;
        wanted.project = "owner";
        wanted.request.gpus = 2;
        wanted.tasks_min = wanted.tasks_max = nodes_;
        cluster.add_job(kOwners, wanted, kToday);
        for (int at = 0; at < lent * nodes_; ++at)
            lend(at / lent, at % lent, {at + kStarting.value});
    }

    void lend(int node, int gpu, JobId id) {
        model::JobSpec spec;
        spec.project = "guest";
        spec.request.gpus = 1;
        cluster.add_job(id, spec, kToday);
        const NodeId at{static_cast<NodeId::Rep>(node)};
        const model::TaskPlacement task{0, at, std::uint64_t{1} << gpu, base::kWholeGpu, {}, {}};
        cluster.place(id, kOnlyPool, std::span(&task, 1));
        cluster.set_started(id, kToday - base::Duration{100'000'000});
    }

    int nodes_;
    model::Policy policy_ = model::berth_policy();
    PoolView view_;
    VictimSearch search_;
};

}  // namespace

TEST_CASE("what is not found while a job is unseen is found when it is seen") {
    LentNodes world(1, 2);
    world.open();
    const JobSet none;
    const JobSet starting{kStarting};
    CHECK_FALSE(world.finds_victims(starting));
    CHECK(world.finds_victims(none));
}

TEST_CASE("a gang gets all of more nodes with an idle GPU than are named to a search") {
    LentNodes world(300, 1);
    world.open();
    CHECK(world.finds_victims({}));
}

}  // namespace berth::scheduling
