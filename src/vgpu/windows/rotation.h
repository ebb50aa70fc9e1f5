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

#include "vgpu/windows/windows.h"

namespace berth::vgpu::windows {

enum class Policy { pack, fair, fifo, srtf, priority };

struct RotationTerms {
    std::uint64_t memory = 0;  // bytes of the GPU for all its jobs
    Policy policy = Policy::fair;

    bool operator==(const RotationTerms&) const = default;
};

// All in ns.
struct RotationPace {
    std::int64_t quantum = 10'000'000;  // a turn without iterations
    std::int64_t idle_after = 100'000'000;  // a job idle for this time is not at work
    std::int64_t longest = 2'000'000'000;  // an iteration, while others wait
    std::int64_t idle_release = 1'000'000;  // an idle job keeps its turn for this time
    std::int64_t drain = 500'000'000;  // the longest wait for work of the last turn
    std::int64_t look = 1'000'000;  // while others wait, look again so often
    std::int64_t soon = 50'000;  // after a gate was closed
};

// What a job of a rotation may do and is expected to.
struct RotationClaim {
    std::uint64_t limit = 0;  // bytes that it never has more of
    // As it is known of jobs like it; 0: not known.
    std::uint64_t persistent = 0;  // bytes at the ends of iterations
    std::uint64_t peak = 0;  // bytes within them
    std::int64_t expected_ns = 0;  // device time of all its iterations
    std::int32_t weight = 1;
    std::int32_t priority = 0;
};

// What was seen of a job since the turn before.
struct RotationSight {
    Sight work;
    bool inside = false;  // an iteration has begun and not ended
    std::uint64_t iterations = 0;  // ended so far; 0: it has none
    std::uint64_t charged = 0;  // bytes it holds
    std::uint64_t persistent = 0;  // bytes at the ends of its iterations; 0: not known
    std::uint64_t peak = 0;
};

// What a job may do now.
struct Turn {
    Right right = Right::closed;
    std::uint32_t grant = 0;  // counts: another number is another turn
    std::uint64_t limit = 0;  // bytes it may hold
};

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
    struct Job {
        Id id = 0;
        RotationClaim claim;
        RotationSight sight;
        bool is_admitted = false;
        std::int64_t waits_since = -1;
        std::int64_t active_at = 0;
        Usage usage;
        std::int64_t used = 0;  // device time
        std::int64_t score = 0;  // of fair: device time by weight
        Turn turn;
    };

    Job* find(Id id);
    static bool iterates(const Job& job) { return job.sight.iterations > 0; }
    static std::uint64_t persistent(const Job& job);
    static std::uint64_t peak(const Job& job);
    void account(std::int64_t now);
    void admit();
    bool admits(const Job& newcomer) const;
    std::uint64_t room(const Job& job) const;
    bool can_run(const Job& job) const;
    bool is_wanted(const Job& holder) const;
    bool is_over(const Job& holder, std::int64_t now) const;
    bool goes_before(const Job& one, const Job& other) const;
    Job* next();
    bool is_awaited(const Job& holder, const Job& chosen, std::int64_t now) const;
    void end_draining(std::int64_t now);
    void take_turn(std::int64_t now);
    void grant(Job& job, std::int64_t now);

    RotationTerms terms_;
    RotationPace pace_;
    std::vector<Job> jobs_;  // in the order they joined
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
};

}  // namespace berth::vgpu::windows
