// SPDX-License-Identifier: Apache-2.0
//
// Which of a project's jobs goes first, kept up to date? The rules are those of ordering/ranks.h.
//
// A rank follows from the log, the time and the settings: nothing of it is an event. So the cluster
// is brought up to date wherever time passes: before each event is applied, and before a decision,
// by each change at its own time, in order of time and job. The moments at which ranks are read do
// not matter. Never inside a Trial. Cost: O(log jobs) for each job whose rank changes.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/sorted_runs.h"
#include "ordering/ranks.h"

namespace berth::cluster {

class Cluster;
struct Job;

using ordering::Rank;

// Which of a project's jobs goes first, before anything else is asked: the greater.
struct PriorityKey {
    int priority = 0;
    Rank rank;

    bool operator==(const PriorityKey&) const = default;
    std::strong_ordering operator<=>(const PriorityKey& other) const {
        if (priority != other.priority) return priority <=> other.priority;
        return other.rank <=> rank;
    }
};

// The GPU time that a job has had.
struct Attained {
    std::int64_t gpu_ms = 0;
    base::TimePoint counted;  // up to then
    base::TimePoint change = base::TimePoint::max();  // when the rank may be another one
};

struct RankBook {
    ordering::Ranks order;
    base::TimePoint now;
    base::SortedRuns<std::pair<base::TimePoint, base::JobId>> changes;  // by Attained::change
};

// Brings all ranks up to `now`, by the rules that hold or from now on by these.
void keep_ranks(Cluster& cluster, base::TimePoint now);
void keep_ranks(Cluster& cluster, const model::OrderRules& rules, base::TimePoint now);
// By which rules the jobs of a project go: what it says itself, else its parents, else the policy
// that was reported last.
const model::OrderRules& order_rules(const Cluster& cluster, base::ProjectId project);
// Says that the job has had so much GPU time up to `counted`. Without this the cluster counts what
// the job holds.
void note_attained(Cluster& cluster, base::JobId job, std::int64_t gpu_ms, base::TimePoint counted);

// For the cluster itself: a job has come, like these; counts what it had until now, before what
// it holds changes; puts it where it belongs after that; takes a job that ends off all lists.
void enter_ranks(Cluster& cluster, base::JobId job, const ordering::Likenesses& alike);
void count_attained(Cluster& cluster, base::JobId job);
void settle_rank(Cluster& cluster, base::JobId job);
void leave_ranks(Cluster& cluster, base::JobId job);
void settle_order(Cluster& cluster, base::ProjectId project);  // it says another one
void count_held(Cluster& cluster, base::ProjectId project);  // as it holds another number of GPUs

// When the rank of any job may change, as things are.
std::optional<base::TimePoint> next_rank_change(const Cluster& cluster);
// The same of one job that holds so much more than it did, from now on; inside a Trial.
std::optional<base::TimePoint> rank_change_once_given(const Cluster& cluster, base::JobId job,
                                                      base::MilliGpu given, base::TimePoint now);

// Whether its rank, and when that may change, is what follows from what is known.
bool is_ranked_right(const Cluster& cluster, base::JobId job);

// What the order says of a job, by its rank as it is (ordering/account.h).
ordering::Account account_of_order(const Cluster& cluster, base::JobId job);
// What it knows of two jobs of one project, one of which is paused for the other. O(1).
model::OrderReceipt order_receipt(const Cluster& cluster, base::JobId job, base::JobId beneficiary);

// How right it was of the jobs of a project that ended last.
std::optional<model::Accuracy> order_accuracy(const Cluster& cluster, base::ProjectId project);

// What the order remembers, and the same taken back; false when it is not of these jobs.
model::OrderLedger order_ledger(const Cluster& cluster);
bool restore_order(Cluster& cluster, const model::OrderLedger& ledger);

}  // namespace berth::cluster
