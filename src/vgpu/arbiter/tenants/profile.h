// SPDX-License-Identifier: Apache-2.0
//
// What does a tenant take of one GPU, by its iterations? Its processes write it into their slots
// (ledger/account.h); a profile of garbage harms only the tenant that wrote it, and no sum
// overflows. Memory of several processes is added up: no less than they ever had together. What is
// held between iterations is that of the kind of iterations that took longest so far.
//
// How much of the GPU's time it takes is only measured while launches pass a gate. Who is alone
// passes none; its gate is kept, granted, for the first thirty iterations of a kind or two seconds,
// and for a second every minute; longer where these were less than eight iterations. Lengths and
// times of when it was alone count; if there are none, the others.
#pragma once

#include <cstdint>
#include <map>

#include "vgpu/ledger/account.h"

namespace berth::vgpu::arbiter {

struct Profile {
    std::uint64_t iterations = 0;  // by all its processes
    std::int64_t iteration_ns = 0;  // of the process that iterates most; 0: none is known
    std::uint32_t launches = 0;  // in one of those
    std::uint64_t persistent = 0;  // bytes at the end of an iteration
    std::uint64_t peak = 0;  // bytes within one
    std::uint64_t highest = 0;  // bytes ever
    std::int32_t device_share = -1;  // thousandths of the GPU's time, alone; -1: not measured
};

class Profiler {
  public:
    enum class Phase {
        alone,  // nothing was gated
        measured,  // alone or in a turn in which others wait, and gated to measure it
        contended,  // gated for others
    };
    // What was seen of a process since the last look, all of it in that phase.
    void look(std::uint32_t slot, const ledger::Slot& words, Phase phase);
    // The process has ended. What it took is kept.
    void forget(std::uint32_t slot);

    const Profile& profile();
    // Whether iterations were timed while it was alone, of each process that has some.
    bool knows_alone() const;
    // Whether a tenant that is alone is to be measured now; then it is measured until it is not.
    bool measures(std::int64_t now);
    // When it will want to again; INT64_MAX while it has no iterations.
    std::int64_t measures_next() const { return measure_next_; }

  private:
    struct Sums {
        std::uint64_t timed_iterations = 0;
        std::uint64_t timed_ns = 0;
        std::uint64_t gated_iterations = 0;
        std::uint64_t busy_ns = 0;  // in those
    };
    struct Process {
        Sums seen;  // its words; gated_iterations are all
        Sums alone;
        Sums contended;
        std::uint64_t persistent = 0;
        std::uint64_t peak = 0;
        std::uint64_t highest = 0;
        std::uint32_t launches = 0;
    };
    static const Sums& best(const Process& process);

    std::map<std::uint32_t, Process> processes_;
    Profile kept_;
    std::uint64_t kept_ns_ = 0;  // of the process that gave the length
    int kept_shares_ = 0;  // processes whose shares were added up
    std::uint64_t measured_ = 0;  // iterations while it was measured
    std::uint64_t measure_enough_ = 0;
    std::int64_t measure_since_ = 0;  // 0: it is not measured now
    std::int64_t measure_next_ = INT64_MAX;
};

}  // namespace berth::vgpu::arbiter
