// SPDX-License-Identifier: Apache-2.0
//
// On which tier is a job, by the GPU time it has had, and when does that change? The rules are
// those of model::Tiers.
//
// A tier follows from the log and the time alone: nothing of it is an event. So the cluster is
// brought up to date wherever time passes: before each event is applied, and before a decision.
// Never inside a Trial. Cost: O(log jobs) for each job whose tier changes.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/sorted_runs.h"
#include "model/policy.h"

namespace berth::cluster {

class Cluster;

inline constexpr int kLastTier = model::kTiersMax - 1;

// Which of a project's jobs goes first, before anything else is asked: the greater.
struct Precedence {
    int priority = 0;
    int tier = 0;

    bool operator==(const Precedence&) const = default;
    std::strong_ordering operator<=>(const Precedence& other) const {
        if (priority != other.priority) return priority <=> other.priority;
        return other.tier <=> tier;
    }
};

// The GPU time that a job has had.
struct Attained {
    std::int64_t gpu_ms = 0;
    base::TimePoint counted;  // up to then
    std::int64_t turn_gpu_ms = 0;  // it has its turn until it has had so much; 0 = none
    base::TimePoint change = base::TimePoint::max();  // when the tier may be another one
};

struct TierBook {
    // Jobs of one project that fit where one of them fits: they take turns.
    struct Line {
        base::ProjectId project;
        base::ShapeId shape;
        int tasks_min = 1;

        auto operator<=>(const Line&) const = default;
    };
    struct Turns {
        base::JobId given;  // not valid when nobody has one
        std::vector<base::JobId> due;  // the longest due first
    };

    model::Tiers rules;
    base::TimePoint now;
    base::SortedRuns<std::pair<base::TimePoint, base::JobId>> changes;  // by Attained::change
    std::map<Line, Turns> turns;  // of those where anybody is due or has one
};

// Brings all tiers up to `now`, by the rules that hold or from now on by these.
void keep_tiers(Cluster& cluster, base::TimePoint now);
void keep_tiers(Cluster& cluster, const model::Tiers& rules, base::TimePoint now);
// Says that the job has had so much GPU time up to `counted`. Without this the cluster counts what
// the job holds.
void note_attained(Cluster& cluster, base::JobId job, std::int64_t gpu_ms, base::TimePoint counted);

// For the cluster itself, around each change of what a job holds or whether it waits: counts what
// it had until now; puts it where it belongs now; takes a job that ends off all lists.
void count_attained(Cluster& cluster, base::JobId job);
void settle_tier(Cluster& cluster, base::JobId job);
void leave_tiers(Cluster& cluster, base::JobId job);
void end_turn(Cluster& cluster, base::JobId job);  // of those that asked what it has asked

// When the tier of any job may change, as things are.
std::optional<base::TimePoint> next_tier_change(const Cluster& cluster);
// The same of one job that holds so much more than it did, from now on; inside a Trial.
std::optional<base::TimePoint> tier_change_once_given(const Cluster& cluster, base::JobId job,
                                                      base::MilliGpu given, base::TimePoint now);

}  // namespace berth::cluster
