// SPDX-License-Identifier: Apache-2.0
//
// Whose iteration is next in a rotation, and how much memory may each job of it hold? A rotation is
// a part of a GPU's memory that several jobs use in turn, an iteration at a time: what a job needs
// only within its iterations is there once for all of them (Salus: Yu and Chowdhury, MLSys 2020).
// Rotations of one GPU run beside each other.
//
// Safety: what all jobs may hold together is never above the rotation. Who has the turn may grow to
// what the others leave; the others keep what they have and may not grow. A job is admitted, in
// the order they came, when the sum of what stays (persistent) and the largest of what does not
// (ephemeral) fits into the rotation; until its iterations are known all it may have counts as
// staying. An admitted job gets a turn when its peak fits beside what the others hold now.
//
// The turn passes on at ends of iterations only, and not while work of the last one is under way.
// The same job may have the next turn as well, if it asks for it within `idle_release`. A job
// without iterations has it for `quantum`, and an iteration that does not end for `longest`; then
// they are stopped where they are. A job alone in its rotation is not gated, one whose neighbours
// do nothing does not ask for each iteration.
//
// Where turns leave the GPU idle jobs that fit have it all at once (at_once.h).
//
// How long an iteration takes alone is what a gain is measured by. A job of which that is not known
// has one turn of several iterations, in which all others wait.
//
// Next by policy, among those that wait and may run; ties by who joined first:
//   pack      who waits longest
//   fair      who had least device time for its weight; what was not used is lost
//   fifo      who joined first: others run while that one has nothing to run
//   srtf      who has least left of its expected device time; the unknown come last
//   priority  the highest priority, among equals as fair
// With fair and pack no job starves; with the others those behind may wait as long as those before
// them have work.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/windows/at_once.h"
#include "vgpu/windows/rotation_job.h"

namespace berth::vgpu::windows {

class Rotation {
  public:
    using Id = std::int32_t;

    explicit Rotation(RotationTerms terms, RotationPace pace = {}) : terms_(terms), pace_(pace) {}

    void change(const RotationTerms& terms) { terms_ = terms; }
    Id join(const RotationClaim& claim, std::int64_t now);
    void change(Id id, const RotationClaim& claim);
    void leave(Id id);
    bool is_empty() const { return jobs_.empty(); }

    void see(Id id, const RotationSight& sight);
    // Decides. Returns when to look again at the latest.
    std::int64_t turn(std::int64_t now);
    Turn turn_of(Id id) const;

  private:
    using Job = RotationJob;

    Job* find(Id id);
    void account(std::int64_t now);
    void let_all();
    void measure_alone(Job& holder, std::int64_t now);
    void admit();
    std::uint64_t room(const Job& job) const;
    bool can_run(const Job& job) const;
    bool is_wanted(const Job& holder) const;
    bool is_over(const Job& holder, std::int64_t now) const;
    Job* next();
    bool is_awaited(const Job& holder, const Job& chosen, std::int64_t now) const;
    void end_draining(std::int64_t now);
    void take_turn(std::int64_t now);
    void grant(Job& job, std::int64_t now);

    RotationTerms terms_;
    RotationPace pace_;
    RotationJobs jobs_;
    AtOnce at_once_;
    Id next_id_ = 1;
    std::uint32_t grants_ = 0;
    Id holder_ = 0;  // 0: none
    Id draining_ = 0;  // its gate is closed, and that was not yet seen to hold
    bool was_stopped_ = false;  // ... within an iteration
    std::int64_t drain_until_ = 0;
    std::int64_t granted_at_ = 0;
    std::int64_t last_turn_ = 0;
    std::int64_t wanted_since_ = -1;  // others wait for the holder's turn to end
    std::uint64_t iterations_before_ = 0;  // the holder's, when its turn began
    bool is_measuring_ = false;  // the holder, alone
};

}  // namespace berth::vgpu::windows
