// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/pausing/pause_way.h"

#include <doctest/doctest.h>

namespace berth::gpu_shares {
namespace {

const NodeAbility kAble{"", "", "", true, 8};

ports::LaunchOrder order_of(std::vector<ports::TaskLaunch> tasks) {
    ports::LaunchOrder order;
    order.attempt = {model::JobId{7}, 1};
    order.tasks = std::move(tasks);
    return order;
}

ports::TaskLaunch task(int rank, std::string node, std::vector<int> gpus) {
    ports::TaskLaunch launch;
    launch.rank = rank;
    launch.node = std::move(node);
    launch.gpu_indices = std::move(gpus);
    return launch;
}

model::PauseWay signal(std::string why_not) {
    return {model::PauseRung::Signal, std::move(why_not)};
}

}  // namespace

TEST_CASE("whole GPUs of one node are left by checkpoint, by a gang as well") {
    CHECK(pause_way(order_of({task(0, "n0", {0})}), kAble).rung == model::PauseRung::Checkpoint);
    CHECK(pause_way(order_of({task(0, "n0", {0, 1}), task(1, "n0", {2, 3})}), kAble) ==
          model::PauseWay{model::PauseRung::Checkpoint, ""});
}

TEST_CASE("the reason is reported when there is no checkpoint") {
    auto order = order_of({task(0, "n0", {0}), task(1, "n1", {0})});
    CHECK(pause_way(order, kAble) == signal("it runs on 2 nodes"));
    order = order_of({task(0, "n0", {})});
    CHECK(pause_way(order, kAble) == signal("it has no GPU"));
    order = order_of({task(0, "n0", {0})});
    CHECK(pause_way(order, {"GPUs are divided into slices (MIG)", "", "", true, 8}) ==
          signal("GPUs are divided into slices (MIG)"));
    order.is_elastic = true;
    CHECK(pause_way(order, kAble).rung == model::PauseRung::Checkpoint);
    order.tasks[0].group = "workers";
    CHECK(pause_way(order, kAble) == signal("it is elastic, by groups"));
    order.tasks[0].group.clear();
    order.is_elastic = false;
    const NodeAbility limits{"", "its share is kept by MPS", "", true, 8};
    CHECK(pause_way(order, limits).rung == model::PauseRung::Checkpoint);
    order.tasks[0].share = base::MilliGpu{500};
    CHECK(pause_way(order, limits) == signal("its share is kept by MPS"));
    order.tasks.push_back(order.tasks[0]);
    CHECK(pause_way(order, kAble) == signal("several of its tasks share GPUs"));
}

TEST_CASE("the share of a GPU of one task is left by checkpoint") {
    auto order = order_of({task(0, "n0", {0})});
    order.tasks[0].share = base::MilliGpu{500};
    CHECK(pause_way(order, kAble) == model::PauseWay{model::PauseRung::Checkpoint, ""});
}

TEST_CASE("a job that names a signal gets it, and one that names none is killed") {
    auto order = order_of({task(0, "n0", {0})});
    order.spec.pause.signal = "USR1";
    CHECK(pause_way(order, kAble) == signal("the job asks for USR1"));
    order.spec.pause.signal = "none";
    CHECK(pause_way(order, kAble).rung == model::PauseRung::Kill);
}

TEST_CASE("a job that asked to be parked and never is gets the reason, others get none") {
    auto order = order_of({task(0, "n0", {0})});
    CHECK(pause_way(order, kAble).why_not_parked.empty());
    order.park_after = base::Duration{1000};
    CHECK(pause_way(order, kAble) == model::PauseWay{model::PauseRung::Checkpoint, "", "", true});
    CHECK(pause_way(order, {"", "", "its calls are not seen", true, 8}) ==
          model::PauseWay{model::PauseRung::Checkpoint, "", "its calls are not seen"});
    order.spec.pause.signal = "USR1";
    CHECK(pause_way(order, kAble).why_not_parked == "no checkpoint: the job asks for USR1");
}

TEST_CASE("a driver that brings a job back on the same GPUs only serves who has all of the node") {
    const NodeAbility stays{"", "", "", false, 2};
    CHECK(pause_way(order_of({task(0, "n0", {0, 1})}), stays).rung == model::PauseRung::Checkpoint);
    CHECK(pause_way(order_of({task(0, "n0", {1})}), stays).why_not.find("CUDA 13.0") !=
          std::string::npos);
}

}  // namespace berth::gpu_shares
