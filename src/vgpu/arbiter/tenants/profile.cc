// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/tenants/profile.h"

#include <algorithm>

#include "vgpu/ledger/terms.h"

namespace berth::vgpu::arbiter {
namespace {

constexpr std::uint64_t kBelievableMax = 10'000'000'000;  // of ns, or iterations, in one look
constexpr std::uint64_t kBelievableSum = 1'000'000'000'000'000'000;
constexpr std::uint64_t kEnough = 8;  // iterations to say how long one is
constexpr std::uint64_t kEnoughFirst = 30;
constexpr std::uint64_t kEnoughAgain = 10;
constexpr std::int64_t kMeasureFirst = 2'000'000'000;
constexpr std::int64_t kMeasureAgain = 1'000'000'000;
constexpr std::int64_t kMeasureLongest = 30'000'000'000;
constexpr std::int64_t kMeasureEvery = 60'000'000'000;

// What has been added to a word that only grows. One that went back is garbage.
std::uint64_t added(std::uint64_t& seen, std::uint64_t word) {
    const std::uint64_t more = word > seen ? std::min(word - seen, kBelievableMax) : 0;
    seen = word;
    return more;
}

void add(std::uint64_t& sum, std::uint64_t more) { sum = std::min(sum + more, kBelievableSum); }

std::uint64_t bytes(std::uint64_t word) { return std::min(word, ledger::kNoLimit); }

}  // namespace

void Profiler::look(std::uint32_t slot, const ledger::Slot& words, Phase phase) {
    const bool is_new = !processes_.contains(slot);
    Process& process = processes_[slot];
    const std::uint64_t iterations = added(process.seen.gated_iterations, words.iterations);
    const std::uint64_t timed = added(process.seen.timed_iterations, words.timed_iterations);
    const std::uint64_t timed_ns = added(process.seen.timed_ns, words.timed_ns);
    const std::uint64_t busy = added(process.seen.busy_ns, words.busy_ns);
    process.highest = bytes(words.highest);
    if (is_new && phase == Phase::contended) return;  // words of before are no news
    const std::uint32_t launches = words.launches;
    if (launches != process.launches) {
        process.alone = process.contended = {};
        process.launches = launches;
        measure_next_ = 0;
        measure_enough_ = kEnoughFirst;
        measured_ = 0;
    }
    if (launches == 0) return;
    process.persistent = bytes(words.persistent);
    process.peak = bytes(words.peak);
    add(kept_.iterations, iterations);
    Sums& sums = phase == Phase::contended ? process.contended : process.alone;
    add(sums.timed_iterations, timed);
    add(sums.timed_ns, timed_ns);
    if (phase != Phase::alone) {
        add(sums.gated_iterations, iterations);
        add(sums.busy_ns, busy);
    }
    if (phase == Phase::measured) add(measured_, iterations);
}

void Profiler::forget(std::uint32_t slot) {
    profile();
    processes_.erase(slot);
}

const Profiler::Sums& Profiler::best(const Process& process) {
    const bool is_enough = process.alone.timed_iterations >= kEnough ||
                           process.alone.timed_iterations >= process.contended.timed_iterations;
    return is_enough ? process.alone : process.contended;
}

const Profile& Profiler::profile() {
    std::uint64_t persistent = 0;
    std::uint64_t peak = 0;
    std::uint64_t highest = 0;
    double share = 0;
    int shares = 0;
    for (const auto& [slot, process] : processes_) {
        add(persistent, process.persistent);
        add(peak, process.peak);
        add(highest, process.highest);
        const Sums& sums = best(process);
        if (sums.timed_iterations == 0) continue;
        const double length =
            static_cast<double>(sums.timed_ns) / static_cast<double>(sums.timed_iterations);
        const std::uint64_t all_ns = process.alone.timed_ns + process.contended.timed_ns;
        if (all_ns >= kept_ns_) {
            kept_ns_ = all_ns;
            kept_.iteration_ns = static_cast<std::int64_t>(length);
            // Layers may be taken for steps at first, and they keep what a step gives back.
            if (kept_.launches != process.launches) kept_.persistent = 0;
            kept_.launches = process.launches;
        }
        if (sums.gated_iterations < kEnough || length < 1) continue;
        ++shares;
        share +=
            static_cast<double>(sums.busy_ns) / static_cast<double>(sums.gated_iterations) / length;
    }
    kept_.persistent = std::max(kept_.persistent, persistent);
    kept_.peak = std::max(kept_.peak, peak);
    kept_.highest = std::max(kept_.highest, highest);
    // Of as many as were there at once: one that goes makes the job no smaller.
    if (shares > 0 && shares >= kept_shares_) {
        kept_shares_ = shares;
        kept_.device_share = static_cast<std::int32_t>(std::clamp(share, 0.001, 1.0) * 1000 + 0.5);
    }
    return kept_;
}

bool Profiler::knows_alone() const {
    return std::ranges::all_of(processes_, [](const auto& entry) {
        const Process& process = entry.second;
        return process.launches == 0 || process.alone.timed_iterations >= kEnough;
    });
}

bool Profiler::measures(std::int64_t now) {
    if (measure_since_ != 0) {
        const std::int64_t takes = now - measure_since_;
        if (measured_ < measure_enough_ &&
            takes < (measure_enough_ == kEnoughFirst ? kMeasureFirst : kMeasureAgain))
            return true;
        // Of iterations of half a second, two seconds say nothing.
        if (measured_ < kEnough && takes < kMeasureLongest) return true;
        measure_since_ = 0;
        measure_next_ = now + kMeasureEvery;
        measure_enough_ = kEnoughAgain;
        return false;
    }
    if (now < measure_next_) return false;
    measure_since_ = now;
    measured_ = 0;
    return true;
}

}  // namespace berth::vgpu::arbiter
