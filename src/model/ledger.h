// SPDX-License-Identifier: Apache-2.0
//
// What can a GPU be doing, as the ledger counts it, and how long did GPUs do it? At every moment
// each GPU, or part of one, is in one of these.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/quantity.h"

namespace berth::model {

enum class GpuUse : std::uint8_t {
    Busy,  // of a job that runs: measured, its kernels ran
    AllocatedIdle,  // of a job that runs: measured, nothing ran
    NotMeasured,  // of a job that runs
    Starting,  // of a job whose processes are being started
    Leaving,  // of a job that was asked to leave
    LostToPause,  // work that a pause threw away
    LostToFailure,  // work that ended with a failure before it was saved
    Reserved,  // free, kept for a job until it starts
    BlockedByRoom,  // free, and the smallest job that waits asks for more, or for more together
    BlockedByRules,  // free, and it would fit: quota, limit, order or node choice keep it
    Free,  // and no job waits for GPUs of the pool
    Others,  // used by programs outside Berth
    Unhealthy,  // of a node that is not ready, and with no job
};
inline constexpr std::array<GpuUse, 13> kGpuUses{
    GpuUse::Busy,          GpuUse::AllocatedIdle,  GpuUse::NotMeasured,   GpuUse::Starting,
    GpuUse::Leaving,       GpuUse::LostToPause,    GpuUse::LostToFailure, GpuUse::Reserved,
    GpuUse::BlockedByRoom, GpuUse::BlockedByRules, GpuUse::Free,          GpuUse::Others,
    GpuUse::Unhealthy};
// As the API, the event log and CSV say it.
inline constexpr std::array<std::string_view, kGpuUses.size()> kGpuUseNames{
    "busy",          "allocated_idle",  "not_measured", "starting",        "leaving",
    "lost_to_pause", "lost_to_failure", "reserved",     "blocked_by_room", "blocked_by_rules",
    "free",          "others",          "unhealthy"};

// Thousandths of a GPU for a millisecond, by use. Whole numbers: sums are exact. Beside them the
// capacity, counted by itself where no project is named: what uses sum to, of all lines together.
struct GpuTimes {
    std::int64_t busy = 0;
    std::int64_t allocated_idle = 0;
    std::int64_t not_measured = 0;
    std::int64_t starting = 0;
    std::int64_t leaving = 0;
    std::int64_t lost_to_pause = 0;
    std::int64_t lost_to_failure = 0;
    std::int64_t reserved = 0;
    std::int64_t blocked_by_room = 0;
    std::int64_t blocked_by_rules = 0;
    std::int64_t free = 0;
    std::int64_t others = 0;
    std::int64_t unhealthy = 0;
    std::int64_t capacity = 0;

    bool operator==(const GpuTimes&) const = default;
    std::int64_t& operator[](GpuUse use) { return this->*member(use); }
    std::int64_t operator[](GpuUse use) const { return this->*member(use); }
    GpuTimes& operator+=(const GpuTimes& other) {
        for (const GpuUse use : kGpuUses) (*this)[use] += other[use];
        capacity += other.capacity;
        return *this;
    }
    std::int64_t sum() const {
        std::int64_t sum = 0;
        for (const GpuUse use : kGpuUses) sum += (*this)[use];
        return sum;
    }

  private:
    static std::int64_t GpuTimes::* member(GpuUse use) {
        using T = GpuTimes;
        static constexpr std::array<std::int64_t T::*, kGpuUses.size()> kMembers{
            &T::busy,
            &T::allocated_idle,
            &T::not_measured,
            &T::starting,
            &T::leaving,
            &T::lost_to_pause,
            &T::lost_to_failure,
            &T::reserved,
            &T::blocked_by_room,
            &T::blocked_by_rules,
            &T::free,
            &T::others,
            &T::unhealthy};
        return kMembers[static_cast<std::size_t>(use)];
    }
};

// Whose time, and of which GPUs. GPUs that no job has are of no project and no user.
struct LedgerLine {
    std::string pool;
    std::string gpu;  // its model; empty where the node does not say
    std::string project;
    std::string user;

    auto operator<=>(const LedgerLine&) const = default;
};

struct LedgerRow {
    std::int64_t day = 0;  // since the epoch, UTC
    LedgerLine line;
    GpuTimes times;

    bool operator==(const LedgerRow&) const = default;
};

// What a job has had of one line on one day, in its attempt.
struct RecentTime {
    std::int64_t day = 0;
    LedgerLine line;
    bool is_saved = false;  // no pause or failure loses it any more
    GpuTimes times;

    bool operator==(const RecentTime&) const = default;
};

// Of a job that has not ended.
struct JobTime {
    base::JobId job;
    int attempt = 0;  // its last one that had GPUs
    GpuTimes times;  // all it ever had
    std::vector<RecentTime> recent;  // may still turn out to be something else

    bool operator==(const JobTime&) const = default;
};

// All that the ledger remembers.
struct LedgerBook {
    std::vector<LedgerRow> rows;  // by day, then line
    std::vector<JobTime> jobs;

    bool operator==(const LedgerBook&) const = default;
};

}  // namespace berth::model
