// SPDX-License-Identifier: Apache-2.0
//
// A few minutes of a small cluster: Jobs and pods come and go, a Job controller makes their pods,
// the API server makes mistakes, and of two schedulers the one that leads is killed again and
// again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth::tests::kube_scheduler {

// What all lives together have met, so that a test knows that it tested something.
struct Met {
    std::uint64_t bound = 0;
    std::uint64_t gangs_started = 0;
    std::uint64_t suspended = 0;
    std::uint64_t resumed = 0;
    std::uint64_t killed = 0;  // schedulers that led
    std::uint64_t ended = 0;   // by themselves: they had lost the Lease
    std::uint64_t seconds_without = 0;  // the most, after a kill when the API server was well
    std::uint64_t unknown = 0;  // binds whose answer was lost
    std::uint64_t given_back = 0;
    std::uint64_t bound_apart = 0;  // by another program
    std::uint64_t guarded = 0;  // Jobs that ran under a disruption budget in the end
};

// What does not hold, one line each.
std::vector<std::string> findings_of(std::uint64_t seed, Met& met);

}  // namespace berth::tests::kube_scheduler
