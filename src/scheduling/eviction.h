// SPDX-License-Identifier: Apache-2.0
//
// Would the beneficiary start if exactly these pieces were gone? The one test that every choice
// of victims must pass: gates, ledger, and a real placement on the cluster inside a Trial.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "scheduling/victims.h"

namespace berth::scheduling {

// Which of a list of pieces are taken; parallel to the list.
using Choice = std::vector<bool>;

class EvictionTest {
  public:
    EvictionTest(const PoolView& view, const Beneficiary& beneficiary, const ReclaimLedger& ledger,
                 const std::vector<Piece>& pieces);

    // The beneficiary's places when the chosen pieces have left; nothing when it cannot start or
    // the set is not legal.
    std::optional<std::vector<model::TaskPlacement>> places_after(const Choice& choice) const;

    // The same, without asking the ledger.
    std::optional<std::vector<model::TaskPlacement>> places_if_legal(const Choice& choice) const;

    // Gives back pieces the beneficiary does not need, in the order given, as long as it still
    // starts. Afterwards the choice is minimal when it has at most kPrunedPieces pieces.
    void prune(Choice& choice, std::span<const std::size_t> give_back_order) const;

  private:
    bool is_legal(const Choice& choice) const;

    const PoolView& view_;
    const Beneficiary& beneficiary_;
    const ReclaimLedger& ledger_;
    const std::vector<Piece>& pieces_;
};

inline constexpr std::ptrdiff_t kPrunedPieces = 64;

// The two ways to choose; empty when nothing legal helps.
Choice choose_cheapest(const PoolView& view, const Beneficiary& beneficiary,
                       const ReclaimLedger& ledger, const std::vector<Piece>& pieces,
                       const EvictionTest& test);
Choice choose_in_order(const PoolView& view, const Beneficiary& beneficiary,
                       const std::vector<Piece>& pieces, const EvictionTest& test);

// The first piece of the job that the piece at `position` belongs to.
std::size_t first_of_job(const std::vector<Piece>& pieces, std::size_t position);

}  // namespace berth::scheduling
