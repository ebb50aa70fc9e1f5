// SPDX-License-Identifier: Apache-2.0
//
// The translation alone; tests/process runs real processes.
#include "adapters/process/make_order.h"

#include <doctest/doctest.h>

using namespace berth;

namespace {

const process::Machine kMachine{"cluster", "/data/run", "/data/jobs", "boot"};

}  // namespace

TEST_CASE("nodes are counted in the order in which ranks meet them") {
    ports::LaunchOrder launch;
    launch.attempt = {model::JobId{7}, 2};
    launch.tasks = {{0, 0, "b", {4, 5}}, {1, 1, "b", {}}, {2, 0, "a", {0}}};
    const supervision::Order order = make_order(kMachine, launch);
    REQUIRE(order.tasks.size() == 3);
    CHECK(order.tasks[0] == supervision::TaskOrder{0, 0, 2, 0, "4,5", "4,5"});
    CHECK(order.tasks[1] == supervision::TaskOrder{1, 1, 2, 0, ""});
    CHECK(order.tasks[2] == supervision::TaskOrder{2, 0, 1, 1, "0", "0"});
    CHECK(order.file_prefix == "/data/jobs/0/7.2");
    CHECK(order.runtime == "/data/run");
}

TEST_CASE("all attempts of a job share a checkpoint directory, unless the user has one") {
    ports::LaunchOrder launch;
    launch.attempt = {model::JobId{7}, 2};
    CHECK(make_order(kMachine, launch).checkpoint_dir == "/data/jobs/0/7.checkpoint");
    launch.spec.checkpoint_dir = "/mine";
    CHECK(make_order(kMachine, launch).checkpoint_dir == "/mine");
}

TEST_CASE("a program on simulated GPUs hears where to say what it does on them") {
    ports::LaunchOrder launch;
    launch.tasks = {{0, 0, "n3", {4, 5}}, {1, 1, "n3", {}}};
    process::Machine machine = kMachine;
    machine.gpu_counters = "/data/run/gpus";
    const supervision::Order order = make_order(machine, launch);
    using Words = std::vector<std::string>;
    CHECK(order.tasks[0].environment == Words{"BERTH_SIMULATED_GPUS=/data/run/gpus/n3"});
    CHECK(order.tasks[1].environment.empty());
}
