// SPDX-License-Identifier: Apache-2.0
//
// What is known of a job of a rotation, what does it need of the rotation's memory, and which of
// two goes first? Plain data, and questions that ask nothing else.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/windows/usage.h"
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
    std::uint64_t alone = 9;  // iterations to know how long one is alone
    std::int64_t alone_longest = 10'000'000'000;  // a turn for that
    std::int64_t alone_again = 10'000'000'000;  // until the next one of the same job
    std::int64_t alone_idle = 1'000'000'000;  // it ends when the job is idle for this time
    std::int64_t judged_after = 2'000'000'000;  // by turns, again and again
    std::int64_t crowded_for = 10'000'000'000;  // by turns, after one had too little memory
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
    bool is_measured = true;  // it is known how long an iteration takes alone
};

// What a job may do now.
struct Turn {
    Right right = Right::closed;
    std::uint32_t grant = 0;  // counts: another number is another turn
    std::uint64_t limit = 0;  // bytes it may hold
    bool is_alone = false;  // all others wait, and no iteration of before is under way
};

struct RotationJob {
    std::int32_t id = 0;
    RotationClaim claim;
    RotationSight sight;
    bool is_admitted = false;
    std::int64_t waits_since = -1;
    std::int64_t active_at = 0;
    Usage usage;
    std::int64_t used = 0;  // device time
    std::int64_t score = 0;  // of fair: device time by weight
    std::int64_t measure_after = 0;
    Turn turn;
};

using RotationJobs = std::vector<RotationJob>;  // in the order they joined

inline bool iterates(const RotationJob& job) { return job.sight.iterations > 0; }
// Bytes that stay between its iterations; until they are known, all that it may have.
std::uint64_t persistent(const RotationJob& job);
std::uint64_t peak(const RotationJob& job);
std::uint64_t peaks(const RotationJobs& jobs);
// Beside those that were admitted: all that stays, and the largest of what does not.
bool fits(const RotationJob& newcomer, const RotationJobs& jobs, std::uint64_t memory);

bool goes_before(Policy policy, const RotationJob& one, const RotationJob& other);

bool is_to_be_measured(const RotationJob& job, std::int64_t now);
// All others wait at their gates, and nothing of theirs is on the GPU.
bool others_wait(const RotationJob& holder, const RotationJobs& jobs);

}  // namespace berth::vgpu::windows
