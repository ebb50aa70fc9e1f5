// SPDX-License-Identifier: Apache-2.0
//
// Slices of a GPU that the hardware cuts (MIG): what a program on one of them sees and can have.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "vgpu/api.h"
#include "vgpu/tenant.h"

using namespace berth::test_vgpu;

namespace {

// One GPU of 80 GiB in three slices, and a whole one. Made-up UUIDs end in the number of the unit.
class CutMachine {
  public:
    CutMachine() { cuda(); }  // this process is on a machine of its own
    ~CutMachine() {
        ::unsetenv("CUDA_VISIBLE_DEVICES");
        ::unlink(path_.c_str());
    }

    Tenant on(const std::string& devices) const {
        ::setenv("CUDA_VISIBLE_DEVICES", devices.c_str(), 1);
        return Tenant("state=" + path_ +
                      "; gpus=2; memory=80GiB; reserved=0MiB; context=64MiB; contents=0MiB;"
                      "mig=0:3g.40gb, 0:1g.10gb, 0:1g.10gb");
    }

  private:
    std::string path_ = "/dev/shm/berth_slices_test." + std::to_string(::getpid());
};

std::string slice(int unit) {
    return "MIG-62657274-6800-4000-8000-00000000000" + std::to_string(unit);
}

constexpr std::uint64_t kGibibyte = 1ULL << 30U;

std::uint64_t total_seen(const Tenant& tenant) {
    tenant.ask("init");
    tenant.ask("context");
    const std::string info = tenant.ask("info");
    return std::stoull(info.substr(info.rfind(' ') + 1)) / kGibibyte;
}

std::string alloc(const Tenant& tenant, std::uint64_t gibibytes) {
    const std::string answer = tenant.ask("alloc " + std::to_string(gibibytes * kGibibyte));
    return answer.substr(0, answer.find(' '));
}

}  // namespace

TEST_CASE("a program on a slice sees the slice's memory and no more") {
    const CutMachine machine;
    const Tenant large = machine.on(slice(2));
    CHECK(total_seen(large) == 40);
    CHECK(alloc(large, 39) == "0");
    CHECK(alloc(large, 1) == "2");
    const Tenant small = machine.on(slice(3));
    CHECK(total_seen(small) == 10);
    CHECK(alloc(small, 10) == "2");
    CHECK(alloc(small, 9) == "0");
}

TEST_CASE("what one slice takes, another does not miss") {
    const CutMachine machine;
    const Tenant one = machine.on(slice(3));
    const Tenant other = machine.on(slice(4));
    CHECK(total_seen(one) == 10);
    CHECK(total_seen(other) == 10);
    CHECK(alloc(one, 9) == "0");
    CHECK(alloc(other, 9) == "0");
}

TEST_CASE("a process sees one slice, and a GPU that is cut stands for its first") {
    const CutMachine machine;
    CHECK(total_seen(machine.on(slice(3) + "," + slice(2))) == 10);
    CHECK(total_seen(machine.on("0")) == 40);
    CHECK(total_seen(machine.on("1")) == 80);
    const Tenant nowhere = machine.on("MIG-00000000-0000-0000-0000-000000000009");
    CHECK(nowhere.ask("init").empty());  // it ends where cuInit fails
}

TEST_CASE("the time of a slice is its own") {
    const CutMachine machine;
    const Tenant one = machine.on(slice(3));
    const Tenant other = machine.on(slice(4));
    for (const Tenant* tenant : {&one, &other}) total_seen(*tenant);
    one.tell("timed 20000000 40");
    other.tell("timed 20000000 40");
    for (const Tenant* tenant : {&one, &other}) {
        const std::string answer = tenant->hear();
        // Together on one engine it would be 1600 ms.
        CHECK(std::stod(answer.substr(answer.find(' '))) < 1300);
    }
}

TEST_CASE("a process on a slice cannot be checkpointed, and goes on") {
    const CutMachine machine;
    const Tenant held = machine.on(slice(3));
    const Tenant other = machine.on(slice(4));
    total_seen(held);
    total_seen(other);
    const std::string result = other.ask("checkpoint " + std::to_string(held.pid()));
    CHECK(result.starts_with("0 801"));
}
