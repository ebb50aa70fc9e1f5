// SPDX-License-Identifier: Apache-2.0
#include "control/outlook.h"

#include <algorithm>
#include <iterator>

#include "scheduling/decide.h"
#include "scheduling/explain/explain.h"

namespace berth::control {

Outlook outlook_of(const Present& present, Admission& admission, scheduling::DecisionCache& memory,
                   const model::JobSpec& spec) {
    const auto& [state, policy, now] = present;
    const model::JobId id{state.last_job.value + 1};
    Outlook outlook;
    if (const auto refused = admission.refusal(state.cluster, policy, now, id, spec)) {
        outlook.verdict = *refused;
        outlook.can_run = false;
        return outlook;
    }
    state.cluster.add_job(id, spec, now);
    const model::Plan plan = scheduling::decide(state.cluster, policy, now, memory);
    outlook.verdict = scheduling::explain(state.cluster, policy, plan, now, id);
    state.cluster.remove_job(id);
    outlook.starts_now = outlook.verdict.reason == model::Reason::Starting;
    std::ranges::copy_if(plan.pauses, std::back_inserter(outlook.pauses),
                         [&](const model::Pause& pause) { return pause.beneficiary == id; });
    std::ranges::copy_if(plan.moves, std::back_inserter(outlook.moves),
                         [&](const model::Move& move) { return move.beneficiary == id; });
    return outlook;
}

}  // namespace berth::control
