// SPDX-License-Identifier: Apache-2.0
#include "model/verdict.h"

namespace berth::model {

std::string_view name(Reason reason) {
    static constexpr std::array<std::string_view, kReasonCount> kNames{
        "Invalid",       "NeverFits",       "Held",       "Dependency",
        "NotBefore",     "Paused",          "QuotaHard",  "QuotaFair",
        "PriorityAhead", "PoolFull",        "Fragmented", "Topology",
        "ModelMismatch", "HostResources",   "Gang",       "Unhealthy",
        "Reserved",      "WaitingForPause", "Starting",   "NotYetEvaluated",
        "Parked"};
    return kNames[static_cast<std::size_t>(reason)];
}

}  // namespace berth::model
