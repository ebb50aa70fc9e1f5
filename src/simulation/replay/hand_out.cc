// SPDX-License-Identifier: Apache-2.0
#include "simulation/replay/hand_out.h"

#include <algorithm>

#include "simulation/replay/heads.h"
#include "simulation/replay/pass.h"

namespace berth::simulation {

HandOut hand_out(const Queues& queues, const std::function<FromLast()>& running,
                 reference::Order::OrderTraits traits, FreeGpus& free) {
    HandOut result;
    std::optional<FromLast> from_last;
    for (Heads heads(queues); !heads.is_empty();) {
        const Ask ask = heads.ask();
        GpuList place = free.take(ask.gpus, ask.stand);
        if (!place.empty()) {
            result.started.push_back({heads.first().job, ask, std::move(place)});
            heads.served();
            continue;
        }
        if (traits.first_blocks) break;
        if (traits.pauses) {
            if (!from_last) from_last = running();
            // Where enough GPUs are unused, but apart, a job has to move.
            const std::int32_t missing = std::max(ask.gpus - free.count(), 1);
            if (held_behind(heads.first(), missing, *from_last) >= missing) {
                for (const Start& start : result.started) free.give_back(start.gpus);
                return free.placement() == Placement::Count
                           ? pass_by_count(queues, *from_last, free)
                           : pass_by_nodes(queues, *from_last, free);
            }
        }
        heads.passed_over();
    }
    return result;
}

}  // namespace berth::simulation
