// SPDX-License-Identifier: Apache-2.0
//
// When was a job paused, for which one, and what became of it? Folds the events of one job into
// the receipts of all its pauses: the kReceiptsMax newest.
//
// Trusts: the events of one job, in order, as lifecycle::check accepted them. Guarantees: the
// newest is what the state says of the last pause (model::JobRecord::last_pause).
#pragma once

#include <deque>

#include "model/answer/past_pause.h"
#include "model/event.h"

namespace berth::timeline {

inline constexpr std::size_t kReceiptsMax = 100;

class Receipts {
  public:
    void read(const model::Event& event);
    model::JobReceipts receipts() const;

  private:
    friend class ReceiptReading;  // what each event means

    std::deque<model::PastPause> pauses_;  // the newest is at the end
    std::int64_t left_out_ = 0;
    int attempt_ = 0;
    bool is_leaving_ = false;  // the newest is under way
};

}  // namespace berth::timeline
