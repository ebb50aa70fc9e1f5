// SPDX-License-Identifier: Apache-2.0
//
// What happened in some time, and what comes next? One sentence of what was counted, and where that
// time goes on, one of the end that is expected first.
#pragma once

#include <optional>
#include <string>

#include "model/answer/cluster_timeline.h"

namespace berth::overview {

// An end that is expected.
struct NextEnd {
    std::string job;  // its name
    model::Band when;
};

// `timeline`: its times and counts. `next` is said only where its end is known.
std::string timeline_sentence(const model::ClusterTimeline& timeline,
                              const std::optional<NextEnd>& next);

}  // namespace berth::overview
