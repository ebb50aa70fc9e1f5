// SPDX-License-Identifier: Apache-2.0
//
// Is no GPU given twice and no gang left half started, whatever goes wrong?
//   kube_scheduler_lives [--first SEED] [--seeds N]
// Each seed is some minutes of virtual time of a cluster of 1 to 5 nodes (life.h).
#include <iostream>

#include "kube_scheduler/life.h"
#include "properties/seeds.h"

int main(int argc, char** argv) {
    berth::tests::kube_scheduler::Met met;
    const bool holds = berth::proof::holds_for_seeds(argc, argv, [&](std::uint64_t seed) {
        return berth::tests::kube_scheduler::findings_of(seed, met);
    });
    std::cout << met.bound << " pods bound, " << met.bound_apart << " by others, " << met.unknown
              << " answers lost, " << met.given_back << " gangs given back, " << met.suspended
              << " Jobs suspended, " << met.resumed << " resumed, " << met.guarded
              << " running under a disruption budget; leaders: " << met.killed << " killed, "
              << met.ended << " ended by themselves, at most " << met.seconds_without
              << " s without one\n";
    for (const std::uint64_t count : {met.bound, met.bound_apart, met.unknown, met.suspended,
                                      met.resumed, met.guarded, met.killed, met.ended}) {
        if (count > 0) continue;
        std::cout << "one of these never happened\n";
        return 1;
    }
    return holds ? 0 : 1;
}
