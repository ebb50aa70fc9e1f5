// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/keepers/back_end.h"

#include <doctest/doctest.h>

namespace berth::gpu_shares {
namespace {

Machine newest() {
    Machine machine;
    machine.driver = "615.43.02";
    machine.mps_control = "/usr/bin/nvidia-cuda-mps-control";
    return machine;
}

Choice chosen(const Machine& machine, Wish wish = Wish::Auto) {
    return *choose_back_end(machine, wish);
}

}  // namespace

TEST_CASE("the driver keeps limits where driver, kernel and MPS are there") {
    const Choice choice = chosen(newest());
    CHECK(choice.back_end == BackEnd::DriverLimits);
    CHECK(choice.reason == "driver 615.43.02 and the kernel's dmem controller keep them");
}

TEST_CASE("what is missing for that is the reason for the interposer") {
    Machine machine = newest();
    machine.mps_control.clear();
    CHECK(chosen(machine).back_end == BackEnd::Interposer);
    CHECK(chosen(machine).reason == "there is no nvidia-cuda-mps-control in the PATH");
    machine.groups_lack = "the kernel has no dmem controller";
    CHECK(chosen(machine).reason == "the kernel has no dmem controller");
    machine.driver = "580.65.06";
    CHECK(chosen(machine).reason ==
          "driver 580.65.06 is older than 615, the first that keeps limits itself");
    machine.driver.clear();
    CHECK(chosen(machine).reason == "the driver does not say its release");
    machine.are_simulated = true;
    CHECK(chosen(machine).reason == "simulated GPUs have no control groups");
}

TEST_CASE("what began with one goes on with it: a GPU is never used in two modes at once") {
    Machine machine = newest();
    machine.has_interposed = true;
    CHECK(chosen(machine).back_end == BackEnd::Interposer);
    CHECK(chosen(machine, Wish::DriverLimits).back_end == BackEnd::Interposer);
    CHECK(chosen(machine).reason == "jobs run that began with it");
    machine.has_interposed = false;
    machine.has_limited = true;
    CHECK(chosen(machine, Wish::Interposer).back_end == BackEnd::DriverLimits);
}

TEST_CASE("where the arbiter may not run before programs, the reason for the interposer says so") {
    Machine machine = newest();
    machine.precedence_lacks = "its turns come late";
    CHECK(chosen(machine).reason == chosen(newest()).reason);
    CHECK(chosen(machine, Wish::Interposer).reason == "--sharing interposer; its turns come late");
    machine.mps_control.clear();
    CHECK(chosen(machine).reason ==
          "there is no nvidia-cuda-mps-control in the PATH; its turns come late");
    machine.are_simulated = true;
    CHECK(chosen(machine).reason == "simulated GPUs have no control groups");
}

TEST_CASE("a wish is met, or refused with what is missing") {
    CHECK(chosen(newest(), Wish::Interposer).back_end == BackEnd::Interposer);
    Machine old = newest();
    old.driver = "580.65.06";
    const auto refused = choose_back_end(old, Wish::DriverLimits);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message ==
          "--sharing driver: driver 580.65.06 is older than 615, the first that keeps limits "
          "itself");
    CHECK(*parse_wish("driver") == Wish::DriverLimits);
    CHECK(parse_wish("mps").error().message ==
          "--sharing: wanted auto, interposer or driver, found \"mps\"");
}

}  // namespace berth::gpu_shares
