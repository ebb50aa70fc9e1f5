// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/precedence.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "vgpu/arbiter/node.h"

using berth::vgpu::arbiter::precedence_lack;
using berth::vgpu::arbiter::take_precedence;
using vgpu::Node;

namespace {

// Programs that keep all processors at work.
class BusyMachine {
  public:
    BusyMachine() {
        for (unsigned int i = 0; i < 4 * std::thread::hardware_concurrency(); ++i)
            programs_.push_back(vgpu::start([]() -> int {
                while (true) {
                }
            }));
    }
    ~BusyMachine() {
        for (const pid_t program : programs_) {
            ::kill(program, SIGKILL);
            vgpu::end_of(program);
        }
    }
    BusyMachine(const BusyMachine&) = delete;
    BusyMachine& operator=(const BusyMachine&) = delete;

  private:
    std::vector<pid_t> programs_;
};

}  // namespace

TEST_CASE("where all processors are busy the arbiter has one at once, if its user may") {
    if (const std::string lack = precedence_lack(); !lack.empty()) {
        MESSAGE("not tried: ", lack);
        return;
    }
    const Node node;
    const BusyMachine busy;
    const std::int64_t before = vgpu::starved_ns(node.arbiter());
    for (int order = 0; order < 400; ++order) {
        node.order("status");
        vgpu::pause_ms(1);
    }
    // Without precedence half a second and more.
    CHECK(vgpu::starved_ns(node.arbiter()) - before < 100'000'000);
}

TEST_CASE("who may not run before programs learns why and what allows it") {
    const pid_t child = vgpu::start([] {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_RTPRIO, &none);
        ::setrlimit(RLIMIT_NICE, &none);
        if (::geteuid() == 0 && ::setuid(65534) != 0) return 2;
        return take_precedence().find("LimitRTPRIO=1") != std::string::npos ? 0 : 1;
    });
    CHECK(vgpu::end_of(child) == 0);
}

TEST_CASE("to try precedence leaves this process as it is") {
    const int nice = ::getpriority(PRIO_PROCESS, 0);
    (void)precedence_lack();
    CHECK(::sched_getscheduler(0) == SCHED_OTHER);
    CHECK(::getpriority(PRIO_PROCESS, 0) == nice);
}
