// SPDX-License-Identifier: Apache-2.0
//
// What does the order of jobs say of one job: where it stands, what it is expected to cost and by
// which evidence, what protects the jobs that run, and when its wait ends? As plain data for
// `berth why` and `berth show`; found out by scheduling/explain/order_account.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/quantity.h"
#include "model/policy/policy.h"

namespace berth::model {

using base::JobId;
using base::MilliGpu;
using base::TimePoint;

// Which jobs an expectation goes by.
enum class EvidenceOf {
    None,  // none has ended
    All,
    Width,  // that ask as many GPUs, as do the following
    User,  // of its project and user
    Name,  // ... whose names differ in numbers only
    Command,  // of its project, that run the same program
};

struct OrderEvidence {
    EvidenceOf from = EvidenceOf::None;
    std::string key;  // "ada", "ada named train-#", "python train.py"
    std::int64_t jobs = 0;  // number of them
    std::int64_t unfinished = 0;  // that had not ended: these tell what they have used, no more
    Duration reach{0};  // submitted at most this long before or after it; 0 = at any time

    bool operator==(const OrderEvidence&) const = default;
};

struct StageChange {
    TimePoint time;
    int stage = 0;

    bool operator==(const StageChange&) const = default;
};

// Whether a guard against long waits (ordering/guard.h) puts it before others.
enum class Turn {
    NotDue,
    Due,  // its turn comes when those of other due jobs are over
    Granted,
};

// What keeps any running job of its project from being preempted for it now.
enum class HeldBackBy {
    Nothing,
    Order,  // none is far enough behind
    Delay,  // its preemption delay
    WasteBudget,
    MinimumRun,  // of those that are far enough behind
    Room,  // all that may be preempted together would not make room for it
};

// The running job of its project that would be preempted for it first.
struct OrderPrice {
    JobId candidate;
    std::int64_t loses_gpu_ms = 0;  // unsaved work and its restart
    int stage = 0;  // of the candidate
    int preempted_from = 0;  // a running job is preempted for this one from that stage on
    bool is_behind = false;  // far enough
    bool is_of_lower_priority = false;
    HeldBackBy held_back_by = HeldBackBy::Nothing;
    std::optional<TimePoint> until = {};  // at the least; nothing where time alone changes nothing

    bool operator==(const OrderPrice&) const = default;
};

struct OrderAccount {
    JobOrder by = JobOrder::Age;
    bool is_ranked = true;  // false: it cannot be preempted, and goes before those that can
    int position = 0;  // 1 = next of its project; 0 = it does not wait
    int waiting = 0;  // jobs of its project that wait
    int jobs_before = 0;  // running jobs of its project that are before it in order
    MilliGpu gpus_before{0};  // that these hold
    MilliGpu capacity{0};  // of the pool
    // Of its project, that wait or hold GPUs: they go before it however long it waits.
    int jobs_of_higher_priority = 0;
    int stage = 0;  // of its cost, or its level
    std::optional<std::int64_t> cost_gpu_ms;  // expected until it ends
    bool cost_counts = false;  // false: not before it has had a GPU-minute
    OrderEvidence evidence;
    std::optional<OrderPrice> price;
    Turn turn = Turn::NotDue;
    std::optional<TimePoint> due;  // by its wait; nothing while one of higher priority goes first
    std::vector<StageChange> changes;  // the last five, the oldest first

    bool operator==(const OrderAccount&) const = default;
};

// A pause for a job of the same project that goes before it: what the order knew of both.
struct OrderReceipt {
    JobOrder by = JobOrder::Learned;
    int stage = 0;
    std::int64_t cost_gpu_ms = 0;  // 0 = no cost counted
    int beneficiary_stage = 0;
    std::int64_t beneficiary_cost_gpu_ms = 0;
    Turn beneficiary_turn = Turn::NotDue;

    bool operator==(const OrderReceipt&) const = default;
};

// Predicted GPU time over what was used, of the jobs of a project that ended last.
struct Accuracy {
    int jobs = 0;
    std::int64_t median_thousandths = 0;
    std::int64_t p90_thousandths = 0;

    bool operator==(const Accuracy&) const = default;
};

}  // namespace berth::model
