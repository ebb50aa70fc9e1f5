// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/precedence.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace berth::vgpu::arbiter {
namespace {

constexpr int kFirst = -20;  // of nice values

}  // namespace

std::string take_precedence() {
    sched_param lowest{};
    lowest.sched_priority = ::sched_get_priority_min(SCHED_RR);
    if (::sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest) == 0) return {};
    const auto thread = static_cast<id_t>(::syscall(SYS_gettid));
    if (::setpriority(PRIO_PROCESS, thread, kFirst) == 0) return {};
    return "this user may not run its arbiter before programs, so turns on a GPU come late where "
           "all processors are busy; allow it with LimitRTPRIO=1 (systemd), or \"rtprio 1\" in "
           "/etc/security/limits.conf";
}

std::string precedence_lack() {
    std::string lack;
    std::thread([&lack] { lack = take_precedence(); }).join();
    return lack;
}

}  // namespace berth::vgpu::arbiter
