// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "vgpu/arbiter/node.h"
#include "vgpu/arbiter/talk/send_order.h"

using namespace berth::vgpu::ledger;
using vgpu::Node;

namespace {

const std::string kRestarted = std::string("tenant job-7 gpus=") + vgpu::kGpu + ":1000";

}  // namespace

TEST_CASE("while the arbiter is dead its limits stay in force") {
    Node node;
    node.order(kRestarted);
    Membership one = node.join("job-7");
    Membership other = node.join("job-7");
    CHECK(charge(one.place(0), 700));
    node.kill_arbiter();
    CHECK_FALSE(charge(other.place(0), 400));
    CHECK(charge(other.place(0), 300));
    CHECK_FALSE(ring(one, 0));
    node.start_arbiter();
    leave(one);
    leave(other);
}

TEST_CASE("after a restart no tenant grows until those from before have had time to come back") {
    Node node({"--settle", "300ms"});
    node.order(kRestarted);
    Membership before = node.join("job-7");
    CHECK(charge(before.place(0), 700));
    node.kill_arbiter();
    node.start_arbiter();
    node.order(kRestarted);

    // A newcomer asks first, and waits; meanwhile the one from before brings what it holds.
    Membership newcomer = node.join("job-7");
    CHECK(newcomer.terms->gpus[0].settling == 1);
    Membership back = node.join("job-7");
    charge_regardless(back.place(0), 700);
    CHECK_FALSE(charge(newcomer.place(0), 400));
    CHECK(newcomer.terms->gpus[0].settling == 0);
    CHECK(charge(newcomer.place(0), 300));
    for (Membership* membership : {&before, &newcomer, &back}) leave(*membership);
}

TEST_CASE("a first start does not wait for anybody") {
    const Node node({"--settle", "5s"});
    node.order(kRestarted);
    Membership first = node.join("job-7");
    CHECK(first.terms->gpus[0].settling == 0);
    leave(first);
}

TEST_CASE("a second arbiter for the same directory is refused and harms nothing") {
    const Node node;
    node.order(kRestarted);
    const std::string command =
        std::string(BERTH_ARBITER) + " --dir " + node.directory() + " 2>/dev/null";
    CHECK(std::system(command.c_str()) == 2 << 8);
    CHECK(node.status("job-7", "processes") == "0");
    Membership process = node.join("job-7");
    leave(process);
}
