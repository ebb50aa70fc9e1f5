// SPDX-License-Identifier: Apache-2.0
//
// Which of two jobs is first, and when will that change by itself? The one interface of orders that
// no server runs: published ones, and those that know durations.
// The user of an order hands out GPUs greedily by it: the first job takes what it asks, the next
// takes what it asks if that is left, and so on; a running job that gets nothing is paused.
//
// Trusts: a JobSnapshot tells the truth at the moment of the question.
// Guarantees: integers only, the same questions give the same answers. The rank of a waiting job
// or running job stays until its change comes, until it starts or is paused, or until all_moved()
// says so; that of a running job whose order is_in_flow, or looks_at_every_event, may change any
// time. Ties: the job submitted earlier is first.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/quantity.h"

namespace berth::reference {

using base::Duration;
using base::TimePoint;

using GpuMs = std::int64_t;  // GPU time, in milliseconds of one

// Which job, counted from 0 in order of submission.
using JobIndex = std::int32_t;

inline constexpr TimePoint kNever = TimePoint::max();

// What an order may know of a job.
struct JobSnapshot {
    JobIndex job = 0;
    std::int32_t gpus = 1;  // asked, and held while it runs
    bool runs = false;
    TimePoint submitted;
    TimePoint first_start = kNever;
    TimePoint now;
    Duration held{};  // time on GPUs so far
    // Run time left, where it is known or predicted; blind orders do not look.
    std::optional<Duration> left;

    GpuMs attained() const { return held.count() * gpus; }
    // When it will have attained so much, if it goes on running.
    TimePoint when_attained(GpuMs service) const {
        constexpr GpuMs kForEver = 1'000'000'000'000'000'000;
        if (service > kForEver) return kNever;
        return now + Duration{(service - attained() + gpus - 1) / gpus};
    }
};

// Smaller is first.
struct Rank {
    std::int64_t level = 0;
    std::int64_t key = 0;
    std::int64_t tie = 0;

    auto operator<=>(const Rank&) const = default;
};

enum class OrderEvent { Submitted, Changed, Finished };

class Order {
  public:
    struct OrderTraits {
        bool pauses = true;  // a waiting job may take the GPUs of running ones behind it
        bool first_blocks = false;  // no job overtakes the first waiting one
        // It notices changes only when something happens anywhere: notice(Changed) is called for
        // every running job at every event, and all are asked for their next change again.
        bool looks_at_every_event = false;
        bool is_in_flow = false;  // ranks go by what is left to run, which falls all the time
    };

    virtual ~Order() = default;

    virtual OrderTraits traits() const { return {}; }
    virtual Rank rank(const JobSnapshot& job) const = 0;
    // When `job`, if it goes on running or waiting as it does, changes its rank against others.
    virtual TimePoint next_change(const JobSnapshot& job) const {
        (void)job;
        return kNever;
    }
    // For orders with a memory; before anybody's rank is asked.
    virtual void notice(OrderEvent event, const JobSnapshot& job) {
        (void)event;
        (void)job;
    }
    // GPUs have been handed out: who started and who was paused, each in order of rank.
    virtual void settle(std::span<const JobIndex> started, std::span<const JobIndex> paused) {
        (void)started;
        (void)paused;
    }
    // Asked when all that happens at a moment has been noticed: may anybody's rank be another
    // because of what others did?
    virtual bool all_moved() { return false; }
};

}  // namespace berth::reference
