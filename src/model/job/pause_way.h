// SPDX-License-Identifier: Apache-2.0
//
// How is a job paused, by the best way it has? A ladder: by checkpoint, from outside, with all its
// processes kept and nothing lost; by a signal on which it saves and stops; killed. docs/adr/0015.
#pragma once

#include <string>

#include "base/quantity.h"

namespace berth::model {

enum class PauseRung { Unknown, Checkpoint, Signal, Kill };

struct PauseWay {
    PauseRung rung = PauseRung::Unknown;
    std::string why_not;  // a checkpoint; empty with one
    std::string why_not_parked = {};  // though it asked for that; empty = it is parked

    bool may_park = false;  // its calls to GPUs are watched, so that the next one brings it back

    bool operator==(const PauseWay&) const = default;
};

// What a checkpoint did to a job: its processes live, off their GPUs.
struct Frozen {
    base::Bytes gpu_memory{-1};  // that became free; -1 = not known
    base::Duration time{0};      // that it took

    bool operator==(const Frozen&) const = default;
};

}  // namespace berth::model
