// SPDX-License-Identifier: Apache-2.0
//
// Which pieces of running work may be paused for a beneficiary at all, and what would each cost?
// Not yet asked: how many of them together (the ledger) and which of them (victims.h).
#pragma once

#include <optional>
#include <vector>

#include "scheduling/victims.h"

namespace berth::scheduling {

struct Pieces {
    // In victim order within each project (R8); pieces of one job are neighbours, surplus first.
    std::vector<Piece> list;
    std::optional<TimePoint> protected_until;
};

Pieces legal_pieces(const PoolView& view, const Beneficiary& beneficiary,
                    const ReclaimLedger& ledger);

// The pieces of one running job, surplus first.
std::vector<Piece> pieces_of(const PoolView& view, const cluster::Job& job);

// Until when the policy leaves a started job alone.
TimePoint protected_until(const model::Policy& policy, const cluster::Job& job);

}  // namespace berth::scheduling
