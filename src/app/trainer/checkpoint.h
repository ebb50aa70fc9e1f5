// SPDX-License-Identifier: Apache-2.0
//
// How is the state of a training run kept so that a kill at any instant leaves the old state or
// the new one? Written beside, flushed to the disk, then renamed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace berth::trainer {

struct State {
    std::int64_t step = 0;             // completed
    double loss = 0;
    std::uint64_t dice = 0;            // from which the noise of the next step is drawn

    bool operator==(const State&) const = default;
};

// Errors: Unavailable (the disk says no).
base::Status save(const std::string& path, const State& state);

// None when there is nothing to resume from. Errors: Invalid (it is no checkpoint of ours).
base::Result<std::optional<State>> load(const std::string& path);

}  // namespace berth::trainer
