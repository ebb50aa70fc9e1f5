// SPDX-License-Identifier: Apache-2.0
//
// What was wasted in these days, and which acts would get most of it back? Waste is GPU time that
// jobs had and did nothing with, lost, or could not have while they waited.
//
// Guarantees: a saving is a part of the waste of these days, and of no other saving, so they sum to
// no more than was wasted. Waste that no act is known for is no saving. A job's part is known where
// all it ever had lies in these days; what is left of its owner's is shared by the longer-lived.
// Cost: O(rows + jobs).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/report.h"
#include "model/record.h"

namespace berth::ledger {

struct JobAccount {
    const model::JobRecord* job = nullptr;  // of jobs that live, or ended in these days
    model::GpuTimes times;  // all it ever had
    bool is_whole = false;  // ... and that lies in these days
};

struct Saving {
    model::GpuUse use = model::GpuUse::AllocatedIdle;  // that the act makes less
    std::int64_t gpu_time = 0;  // at most, in thousandths of GPU milliseconds
    std::string act;
    std::string command;  // that shows it, or does it
    model::JobId job;  // not valid: it is of a pool
    std::string name;  // of the job
    int others = 0;  // jobs of the same project and user
    std::string project;
    std::string user;
    std::string pool;
};

struct Savings {
    std::int64_t wasted = 0;
    std::vector<Saving> most;  // kSavingsShown of them, the largest first
    std::int64_t others = 0;  // those behind them together
};

inline constexpr std::size_t kSavingsShown = 8;
// Uses that are waste, of every job and pool.
inline constexpr std::array<model::GpuUse, 5> kWastes{
    model::GpuUse::AllocatedIdle, model::GpuUse::LostToPause, model::GpuUse::LostToFailure,
    model::GpuUse::BlockedByRoom, model::GpuUse::BlockedByRules};

Savings savings(const model::LedgerBook& book, const Days& days,
                const std::vector<JobAccount>& jobs);

// As much of it as a week has, where days of more than one are on record; never more than it is.
std::int64_t in_a_week(std::int64_t gpu_time, const model::LedgerBook& book, const Days& days);

}  // namespace berth::ledger
