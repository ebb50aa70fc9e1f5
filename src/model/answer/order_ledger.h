// SPDX-License-Identifier: Apache-2.0
//
// What the order of jobs remembers (ordering/ranks.h), as plain data for snapshots of the event
// log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/quantity.h"
#include "model/policy/policy.h"

namespace berth::model {

// How large jobs were found to be, by steps of their size: how many ended there, and got there
// without being known to have ended; and what was last learned of that.
struct SizeLedger {
    std::int64_t width = 0;  // of jobs that ask so much, thousandths of a GPU; 0 = of all
    std::vector<std::int64_t> ended;
    std::vector<std::int64_t> reached;
    std::vector<std::int32_t> hazards;
    std::int64_t learned_from = 0;  // jobs that had ended
};

// Jobs that are alike and ask as many GPUs: the last of them, in order of submission.
struct FamilyLedger {
    int likeness = 0;  // 0 = of one project and user, 1 = and name, 2 = of one command
    std::uint64_t kin = 0;
    std::int64_t width = 0;
    std::int64_t next_number = 0;
    std::vector<std::int64_t> numbers;
    std::vector<base::JobId> jobs;
    std::vector<base::TimePoint> submitted;
    std::vector<int> steps;
    std::vector<int> states;  // 0 = lives, 1 = has ended, 2 = was taken back before it had started
};

// A job that has not ended.
struct RankLedger {
    base::JobId job;
    std::int64_t width = 0;
    std::vector<std::uint64_t> kin;  // its families, by likeness
    std::vector<std::int64_t> numbers;  // in each; negative = it is like no other
    std::int64_t asked = 0;  // thousandths of a GPU
    std::uint64_t asked_before = 0;  // of the project, at submission: CrowdLedger
    std::uint64_t had_before = 0;
    int stage = 0;
    int next_step = 1;  // of its size, with which that may be another
    base::TimePoint change = base::TimePoint::max();  // when its rank is looked at again
    bool runs = false;
    bool has_run = false;
    int restarts = 0;
    std::vector<int> courses;  // of its kin by likeness, when it was last ranked by them
    std::vector<std::int32_t> weights;  // of experts, then
    // What was predicted for it (ordering/account.h), in ms of one GPU: its last ranking, and
    // all that it takes; 0 = nothing.
    std::int64_t cost = 0;
    std::int64_t estimate = 0;
    std::vector<base::TimePoint> stage_times;  // of its last changes of stage
    std::vector<int> stages;
};

// A job that a guard has let pass, or will.
struct ClaimLedger {
    base::JobId job;
    std::int64_t width = 0;  // thousandths of a GPU
    std::int64_t run_until = 0;  // its run is over with so much GPU time, in ms
    std::int64_t number = 0;  // of its grant; 0 = it is due
};

struct GuardLedger {
    std::int64_t grants = 0;
    std::vector<ClaimLedger> claims;  // who has a run, then who is due, the longest first
};

// What a project wants and may have, and who waited too long.
struct CrowdLedger {
    std::string project;
    std::optional<OrderRules> rules;  // none = OrderLedger::rules
    std::optional<int> last_stage;  // likewise
    std::int64_t asked = 0;  // thousandths of a GPU, by all its jobs
    std::int64_t may_have = 0;
    std::uint64_t asked_sum = 0;  // over time, times ms, modulo 2^64
    std::uint64_t may_have_sum = 0;
    base::TimePoint summed;
    GuardLedger waits;
    GuardLedger fair;
    std::vector<std::int64_t> estimate;  // of those of its jobs that ended last, in ms of one GPU
    std::vector<std::int64_t> taken;
};

struct OrderLedger {
    OrderRules rules;  // of the policy, for projects that have no others
    base::TimePoint ranked_at;  // when the ranks were made
    std::int64_t finished = 0;
    std::int64_t learns_at = 0;  // finished jobs
    int last_stage = 0;  // by these rules
    std::vector<std::int32_t> weights;  // of experts, by what is known of a job
    std::vector<SizeLedger> sizes;
    std::vector<FamilyLedger> families;
    std::vector<RankLedger> jobs;
    std::vector<CrowdLedger> projects;
    std::vector<base::JobId> to_rank;  // by what all have learned since
};

}  // namespace berth::model
