// SPDX-License-Identifier: Apache-2.0
//
// How did a project come to its fair share? The arithmetic of rule R1 on one cluster, written down
// level by level so that it can be checked by hand. Made by scheduling/shares/share_account.h.
#pragma once

#include <string>
#include <vector>

#include "model/project.h"

namespace berth::model {

// One sibling of a level: fair = from_quota + from_surplus + odd.
struct ShareRow {
    std::string project;
    MilliGpu quota{0};         // as it counts in the division
    MilliGpu limit{0};
    MilliGpu wants{0};         // held and asked for
    std::int64_t weight = 0;   // thousandths
    int priority = 0;
    MilliGpu from_quota{0};    // min(quota, what it wants and may have); all of a fixed quota
    MilliGpu from_surplus{0};  // whole GPUs of the offers
    MilliGpu odd{0};           // of what the offers could not divide
    MilliGpu fair{0};

    bool operator==(const ShareRow&) const = default;
};

// What was offered of the surplus in one round: offered = left x part, taken is what of it was
// needed, in whole GPUs unless the need was met.
struct ShareOffer {
    int priority = 0;
    int round = 0;
    std::string project;
    MilliGpu left{0};          // when the round began
    std::int64_t part_ppm = 0; // weight by the sum of the weights in the round, bent by past use
    MilliGpu offered{0};
    MilliGpu taken{0};

    bool operator==(const ShareOffer&) const = default;
};

// A parent's fair share divided between its children.
struct ShareLevel {
    std::string parent;        // empty = the pool
    MilliGpu total{0};
    MilliGpu surplus{0};  // total less the sum of from_quota; negative: more is due than is there
    std::vector<ShareRow> rows;
    std::vector<ShareOffer> offers;

    bool operator==(const ShareLevel&) const = default;
};

struct ShareAccount {
    std::string project;
    std::string pool;
    MilliGpu fair{0};
    std::vector<ShareLevel> levels;  // from the pool down to the project's own

    bool operator==(const ShareAccount&) const = default;
};

}  // namespace berth::model
