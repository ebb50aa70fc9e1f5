// SPDX-License-Identifier: Apache-2.0
//
// What does the order say of one job, and was it right of those that have ended? For people:
// nothing here is asked by a decision.
//
// The cost is the one by which the job was ranked last. Of a job that has not had a GPU-minute no
// cost counts yet: its cost is what would count if it had, by what is known now.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/answer/order_account.h"
#include "ordering/job_snapshot.h"

namespace berth::ordering {

struct Account {
    model::JobOrder by = model::JobOrder::Age;
    int stage = 0;  // of its cost, or its level; by age there is none
    GpuMs cost = 0;  // 0 = no cost is known
    bool cost_counts = false;
    model::OrderEvidence evidence;  // its key is for who knows names
    std::vector<model::StageChange> changes;  // the oldest first
    model::Turn turn = model::Turn::NotDue;
    TimePoint due = kNever;  // by its wait, while it waits and is not due
};

// What the order said of a job.
class Story {
  public:
    static constexpr std::size_t kChanges = 5;

    void note_stage(TimePoint time, int stage);
    // The stages of another order are not those of this one.
    void forget_stages() { count_ = 0; }
    void add(const model::StageChange& change);
    int stage() const { return count_ == 0 ? 0 : stages_[count_ - 1]; }
    std::vector<model::StageChange> changes() const;

    GpuMs cost = 0;  // when it was ranked last
    GpuMs estimate = 0;  // of all it takes, made when it passed the first step

  private:
    std::array<TimePoint, kChanges> times_;
    std::array<std::int8_t, kChanges> stages_{};
    std::uint8_t count_ = 0;
};

// What was estimated of the jobs of a project that ended last, and what they took.
class Proofs {
  public:
    static constexpr std::size_t kJobs = 100;
    struct Proof {
        GpuMs estimate = 0;
        GpuMs taken = 0;
    };

    void add(Proof proof);
    const std::vector<Proof>& all() const { return proofs_; }
    // Of estimate / taken; nothing where no job has ended.
    std::optional<model::Accuracy> accuracy() const;

  private:
    std::vector<Proof> proofs_;
};

}  // namespace berth::ordering
