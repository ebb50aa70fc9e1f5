// SPDX-License-Identifier: Apache-2.0
#include "control/gpu_use/unwritten_use.h"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace berth::control {
namespace {

// At most a quarter of its time is not yet known; of long runs ten minutes.
constexpr int kParts = 4;
constexpr base::Duration kSoonest{60'000};
constexpr base::Duration kLatest{600'000};

template <typename Body, typename... Bodies>
constexpr bool is_one_of = (std::is_same_v<Body, Bodies> || ...);

}  // namespace

bool UnwrittenUse::add(const UseSeen& seen, base::Duration runs) {
    if (seen.measured == base::Duration{0}) return false;
    Use& use = unwritten_[seen.attempt];
    use.busy += seen.busy;
    use.measured += seen.measured;
    return use.measured >= std::clamp(runs / kParts, kSoonest, kLatest);
}

std::optional<model::JobUsed> UnwrittenUse::take(ports::AttemptId attempt) {
    const auto found = unwritten_.find(attempt);
    if (found == unwritten_.end()) return std::nullopt;
    const model::JobUsed used{attempt.job, found->second.busy, found->second.measured};
    unwritten_.erase(found);
    return used;
}

model::JobId loses_gpus(const model::EventBody& body) {
    return std::visit(
        []<typename Body>(const Body& event) -> model::JobId {
            if constexpr (is_one_of<Body, model::JobStarting, model::JobPaused, model::JobParked,
                                    model::JobResized, model::JobFinished, model::AttemptLost,
                                    model::JobRequestSet, model::JobMeasured>) {
                return event.job;
            } else {
                return {};
            }
        },
        body);
}

}  // namespace berth::control
