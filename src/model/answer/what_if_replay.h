// SPDX-License-Identifier: Apache-2.0
//
// What would the last days have been under a change? They are simulated twice, as the cluster was
// set and under the change, and what really happened stands beside that. Made by
// simulation/history.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/answer/what_if.h"
#include "model/policy/policy_settings.h"

namespace berth::model {

// Of jobs that end on both sides, and ended; GPU time is that of all jobs, in the days alone.
struct ReplayFigures {
    std::int64_t jobs = 0;
    Duration mean_wait{0};
    Duration p95_wait{0};
    Duration mean_completion{0};  // from submission to end
    std::int64_t pauses = 0;
    std::int64_t lost_gpu_ms = 0;  // with GPUs and without progress: starting again, saving, lost
    std::int64_t used_gpu_ms = 0;
    std::int64_t capacity_gpu_ms = 0;  // of GPUs that jobs could have; 0 for a project

    bool operator==(const ReplayFigures&) const = default;
};

struct ReplaySides {
    std::string project;  // empty = all of them
    ReplayFigures really;  // what happened
    ReplayFigures as_set;  // simulated, as the cluster was set
    ReplayFigures changed;  // simulated, under the change

    bool operator==(const ReplaySides&) const = default;
};

enum class ReplayState { Reads, PlaysAsSet, PlaysChanged, Done, Failed, Cancelled };

constexpr bool is_final(ReplayState state) { return state >= ReplayState::Done; }

struct WhatIfReplay {
    std::int64_t id = 0;
    ReplayState state = ReplayState::Reads;
    int percent = 0;  // of the work, done
    std::string problem;  // why it failed
    TimePoint from;
    TimePoint to;
    std::string sentence;  // the answer; empty until it is there
    std::string trust;  // how far the simulation is from what happened
    ReplaySides all;
    std::vector<ReplaySides> projects;  // that had jobs; who gains most first
    std::int64_t never_ran = 0;  // jobs that are left out: how long they take is not known
    std::int64_t never_end = 0;  // jobs that end as the cluster was set, and not under the change
    std::int64_t changes_passed_over = 0;  // of the cluster, that were not possible on a side
};

// What a client wants replayed.
struct ReplayRequest {
    int days = 7;
    std::vector<Hypothesis> suppose;
    PolicyChanges policy;  // settings beside
};

inline constexpr int kReplayDaysMax = 90;

}  // namespace berth::model
