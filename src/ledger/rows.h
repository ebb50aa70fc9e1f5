// SPDX-License-Identifier: Apache-2.0
//
// How long were GPUs used for what, by day (UTC) and line? The sums themselves, of today and of the
// days before, kDaysKept in all.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "model/ledger.h"

namespace berth::ledger {

using base::Duration;
using base::JobId;
using base::NodeId;
using base::PoolId;
using base::TimePoint;
using model::GpuTimes;
using model::GpuUse;

inline constexpr std::int64_t kDaysKept = 400;

using LineId = std::uint32_t;

class Rows {
  public:
    std::int64_t day() const { return day_; }  // today, since the epoch
    // Both remember a line for good.
    LineId line_of(const model::LedgerLine& line);
    const model::LedgerLine& line(LineId line) const { return lines_[line]; }

    GpuTimes& today(LineId line);
    // Null: nothing is remembered of it.
    GpuTimes* find(std::int64_t day, LineId line);
    void begin_day();  // the next one
    // A later one; what was before is forgotten.
    void skip_to(std::int64_t day);

    std::vector<model::LedgerRow> list() const;  // by day, then line
    void restore(const std::vector<model::LedgerRow>& rows);

  private:
    struct Day {
        std::int64_t day = 0;
        std::map<LineId, GpuTimes> lines;
    };

    std::int64_t day_ = 0;
    std::vector<GpuTimes> today_;  // by line
    std::deque<Day> days_;  // before today, the oldest first
    std::map<model::LedgerLine, LineId> ids_;
    std::vector<model::LedgerLine> lines_;
};

// Until now, in which sums.
struct Moment {
    TimePoint time;
    Rows& rows;
};

}  // namespace berth::ledger
