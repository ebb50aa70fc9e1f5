// SPDX-License-Identifier: Apache-2.0
//
// Do the caches equal a fresh list whatever went wrong before?
//   kube_schedules [--first SEED] [--seeds N]
// Each seed is a few minutes of virtual time with faults of its own: 410 as answer and as event,
// watches that drop, say nothing or end at once, 409, 429 with Retry-After, stalls of 30 s, lost
// answers.
#include <iostream>

#include "kube_client/life.h"
#include "properties/seeds.h"

int main(int argc, char** argv) {
    berth::tests::kube_life::Lived lived;
    const bool holds = berth::proof::holds_for_seeds(argc, argv, [&](std::uint64_t seed) {
        return berth::tests::kube_life::findings_of(seed, lived);
    });
    std::cout << lived.events << " events, " << lived.lists << " lists, " << lived.gone
              << " times gone, " << lived.silent << " silent watches, " << lived.failures
              << " other failures, " << lived.stale_seconds << " s stale\n"
              << lived.bound << " pods bound; of the writes " << lived.unknown << " unknown, "
              << lived.conflicts << " conflicts, " << lived.too_many << " too many\n";
    for (const std::uint64_t count : {lived.gone, lived.silent, lived.failures, lived.unknown,
                                      lived.conflicts, lived.too_many, lived.stale_seconds}) {
        if (count > 0) continue;
        std::cout << "one of these never happened\n";
        return 1;
    }
    return holds ? 0 : 1;
}
