// SPDX-License-Identifier: Apache-2.0
//
// A few minutes of a cluster by seed: pods come, change and go, a writer binds and takes back, Jobs
// are suspended, and everything that can go wrong between client and server does. Afterwards the
// caches are compared with a fresh list.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth::tests::kube_life {

// What went wrong and was lived through, summed over seeds: a fault that never happens proves
// nothing.
struct Lived {
    std::uint64_t events = 0;
    std::uint64_t lists = 0;
    std::uint64_t gone = 0;
    std::uint64_t silent = 0;
    std::uint64_t failures = 0;
    std::uint64_t bound = 0;
    std::uint64_t unknown = 0;
    std::uint64_t conflicts = 0;
    std::uint64_t too_many = 0;
    std::uint64_t stale_seconds = 0;
};

// What does not hold, one line each.
std::vector<std::string> findings_of(std::uint64_t seed, Lived& lived);

}  // namespace berth::tests::kube_life
