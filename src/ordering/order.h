// SPDX-License-Identifier: Apache-2.0
//
// Which of two jobs is first, and when will that change by itself? The one interface of every
// order of jobs: first come, shortest first, levels of attained service, Gittins index ...
// Whoever uses an order hands out GPUs greedily by it: the first job takes what it asks, the next
// takes what it asks if that is left, and so on; a running job that gets nothing is paused.
//
// Trusts: a Standing tells the truth at the moment of the question.
// Guarantees: integers only, the same questions give the same answers. The rank of a waiting job
// or running job stays until its change comes, until it starts or is paused, or until moved() names
// it; that of a running job whose order is_in_flow, or looks_at_every_event, may change any time.
// Ties: the job submitted earlier is first.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/quantity.h"

namespace berth::ordering {

using base::Duration;
using base::TimePoint;

// GPU-milliseconds: GPUs held times how long.
using GpuMs = std::int64_t;

// Which job, counted from 0 in order of submission.
using Ticket = std::int32_t;

inline constexpr TimePoint kNever = TimePoint::max();

// What an order may know of a job.
struct Standing {
    Ticket job = 0;
    std::int32_t gpus = 1;  // asked, and held while it runs
    std::int32_t kin = 0;  // the same number for all jobs of one project and user
    bool runs = false;
    TimePoint submitted;
    TimePoint first_start = kNever;
    TimePoint now;
    Duration held{};  // time on GPUs so far
    Duration in_state{};  // how long it has run, or waited, without a break
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

// What is known of a rank without working it out.
struct Bounds {
    Rank last;  // it is that or before
    TimePoint change;  // it comes then or later
};

enum class Happening { Submitted, Changed, Finished };

// What moved() answers.
struct Moved {
    bool all = false;
    std::vector<Ticket> jobs;
};

class Order {
  public:
    struct Habits {
        bool pauses = true;  // a waiting job may take the GPUs of running ones behind it
        bool first_blocks = false;  // nobody overtakes the first waiting job
        // It notices changes only when something happens anywhere: notice(Changed) is called for
        // every running job at every event, and all are asked for their next change again.
        bool looks_at_every_event = false;
        bool is_in_flow = false;  // ranks go by what is left to run, which falls all the time
    };

    virtual ~Order() = default;

    virtual Habits habits() const { return {}; }
    virtual Rank rank(const Standing& job) const = 0;
    // When `job`, if it goes on running or waiting as it does, changes its rank against others.
    virtual TimePoint next_change(const Standing& job) const { return (void)job, kNever; }
    // Of a running job, where it is much cheaper than the two above; else nothing. Who has them may
    // put off those two until the change may come: the answers are those of now.
    virtual std::optional<Bounds> bounds(const Standing& job) const {
        return (void)job, std::nullopt;
    }
    // For orders with a memory; before anybody's rank is asked.
    virtual void notice(Happening happening, const Standing& job) { (void)happening, (void)job; }
    // GPUs have been handed out: who started and who was paused, each in order of rank.
    virtual void settle(std::span<const Ticket> started, std::span<const Ticket> paused) {
        (void)started, (void)paused;
    }
    // Jobs whose rank is different since the last question because of what others did.
    virtual Moved moved() { return {}; }
};

}  // namespace berth::ordering
