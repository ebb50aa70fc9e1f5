// SPDX-License-Identifier: Apache-2.0
//
// Does what one decision knows of a reservation hold for the next only as long as it is true?
#include "scheduling/passes/reservations.h"

#include <doctest/doctest.h>

#include "scheduling/decide.h"

namespace berth::scheduling {
namespace {

constexpr base::PoolId kPool{0};
constexpr base::JobId kLeaving{1}, kPromised{2};
constexpr base::TimePoint kNow = base::at_ms(1'000'000);

// Two nodes of one GPU. The job on the first is leaving it, and it is promised to the other job.
class World {
  public:
    World() {
        for (const char* name : {"n0", "n1"}) {
            model::Node node;
            node.name = name;
            node.gpus = 1;
            cluster.set_node(node);
        }
        model::Project project;
        project.name = "a";
        cluster.set_project(project);
        for (const base::JobId job : {kLeaving, kPromised}) {
            model::JobSpec spec;
            spec.name = "j" + std::to_string(job.value);
            spec.project = "a";
            cluster.add_job(job, spec, kNow);
        }
        const int rank = 0;
        const model::TaskPlacement task = on(0);
        cluster.place(kLeaving, kPool, std::span(&task, 1));
        cluster.set_started(kLeaving, kNow);
        cluster.release(kLeaving, std::span(&rank, 1));
        reservation(0);
    }

    void reservation(base::NodeId::Rep node) {
        const model::TaskPlacement task = on(node);
        const base::TimePoint deadline = kNow + base::Duration{60'000};
        cluster.reserve(kPromised, kPool, std::span(&task, 1), deadline, model::Rule::Reclaim);
    }
    std::vector<model::Start> starts() {
        return decide(cluster, model::berth_policy(), kNow, memory_).starts;
    }

    cluster::Cluster cluster;

  private:
    static model::TaskPlacement on(base::NodeId::Rep node) {
        return {0, {node}, 1, base::kWholeGpu, {}, {}};
    }

    DecisionCache memory_;
};

}  // namespace

TEST_CASE("a promise is due once its node has been left, though it was not before") {
    World world;
    CHECK(world.starts().empty());
    CHECK(world.starts().empty());
    world.cluster.remove_job(kLeaving);
    REQUIRE(world.starts().size() == 1);
    CHECK(world.starts().front().job == kPromised);
}

TEST_CASE("a promise of other GPUs is looked at, though nothing changed where the first one was") {
    World world;
    CHECK(world.starts().empty());
    world.cluster.drop_reservation(kPromised);
    world.reservation(1);
    REQUIRE(world.starts().size() == 1);
    CHECK(world.starts().front().tasks.front().node == base::NodeId{1});
}

}  // namespace berth::scheduling
