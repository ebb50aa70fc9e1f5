// SPDX-License-Identifier: Apache-2.0
#include "model/answer/verdict.h"

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

Reason reason_of(Cause cause) {
    switch (cause) {
        case Cause::NotEvaluated: return Reason::NotYetEvaluated;
        case Cause::OnHold: return Reason::Held;
        case Cause::PausedByUser: return Reason::Paused;
        case Cause::Parked: return Reason::Parked;
        case Cause::Starting: return Reason::Starting;
        case Cause::GpusReleasing:
        case Cause::HostReleasing:
        case Cause::PromiseUsedByOthers: return Reason::WaitingForPause;
        case Cause::LimitReached:
        case Cause::FixedQuotaReached:
        case Cause::NonPreemptibleQuotaReached:
        case Cause::NonPreemptibleCpuQuotaReached:
        case Cause::NonPreemptibleMemoryQuotaReached:
        case Cause::CpuLimitReached:
        case Cause::MemoryLimitReached: return Reason::QuotaHard;
        case Cause::SetAsideForFixedQuotas:
        case Cause::AboveCpuQuota:
        case Cause::AboveMemoryQuota:
        case Cause::AboveFairShare: return Reason::QuotaFair;
        case Cause::NeverFitsNode:
        case Cause::NeverFitsPool:
        case Cause::NeverFitsHost:
        case Cause::NeverFitsResource:
        case Cause::NeverFitsCompanion:
        case Cause::NeverFitsDomain:
        case Cause::NeverFitsGroup:
        case Cause::SharesNotKept: return Reason::NeverFits;
        case Cause::NoNodeWithLabel:
        case Cause::TaintNotTolerated:
        case Cause::NoNodeOfKind: return Reason::ModelMismatch;
        case Cause::AheadInQueue:
        case Cause::BehindProjects: return Reason::PriorityAhead;
        case Cause::ReservedForOther:
        case Cause::KeptForBackfill:
        case Cause::ShareKeptForBackfill: return Reason::Reserved;
        case Cause::NotTogetherOnNode:
        case Cause::NotOnPinnedNode: return Reason::Fragmented;
        case Cause::NotTogetherInDomain:
        case Cause::GroupNotTogether: return Reason::Topology;
        case Cause::GangDoesNotFit: return Reason::Gang;
        case Cause::HostTaken:
        case Cause::ResourceTaken:
        case Cause::CompanionHasNoRoom:
        case Cause::OthersUseHost: return Reason::HostResources;
        case Cause::PinnedNodeLeaves:
        case Cause::NodesAway:
        case Cause::NodesJoin: return Reason::Unhealthy;
        case Cause::NotEnoughFree:
        case Cause::NodeKindTaken:
        case Cause::OthersUseGpus:
        case Cause::PreemptionDelay:
        case Cause::WasteBudgetSpent:
        case Cause::MinRuntime: return Reason::PoolFull;
    }
    return Reason::NotYetEvaluated;
}

}  // namespace berth::model
