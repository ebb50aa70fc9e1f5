// SPDX-License-Identifier: Apache-2.0
#include "vgpu/freezer/processes.h"

#include <signal.h>

#include <algorithm>
#include <future>
#include <thread>

#include "base/quantity.h"
#include "supervision/processes.h"
#include "vgpu/freezer/host_memory.h"

namespace berth::vgpu::freezer {
namespace {

using freezing::ProcessState;
using freezing::Step;
using supervision::descendants_of;
using supervision::is_stopped;

constexpr std::chrono::milliseconds kAgain{20};
constexpr std::chrono::seconds kHaltMax{2};
// The kernel lists a process on a GPU a moment longer than its memory is there.
constexpr std::chrono::seconds kVerifyMax{2};

// Whether `is_true` became so in time.
template <class Condition>
bool await(std::chrono::milliseconds time, Condition is_true) {
    const auto end = Processes::Clock::now() + time;
    while (!is_true()) {
        if (Processes::Clock::now() >= end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

}  // namespace

freezing::Sight Processes::look() {
    freezing::Sight sight;
    on_gpu_.clear();
    std::size_t halted = 0;
    const auto processes = descendants_of(root_);
    for (const supervision::Process& process : processes) {
        halted += is_stopped(process.pid) ? 1 : 0;
        const auto state = node_.driver.state(process.pid);
        if (!state) continue;
        on_gpu_.push_back({process.pid, *state});
        sight.on_gpu.push_back(*state);
    }
    sight.is_any_halted = halted > 0;
    sight.are_all_halted = halted == processes.size();
    return sight;
}

std::string Processes::perform(Step step) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now());
    switch (step) {
        case Step::Measure: return measure();
        case Step::Lock:
            // 0 would be for ever.
            return at_all_in(ProcessState::Running, [&](pid_t pid) {
                return node_.driver.lock(pid, std::max<std::int64_t>(1, left.count()));
            });
        case Step::Checkpoint:
            return at_all_in(ProcessState::Locked,
                             [&](pid_t pid) { return node_.driver.checkpoint(pid); });
        case Step::Halt: return signal_all(SIGSTOP);
        case Step::Verify: return verify();
        case Step::Wake: return signal_all(SIGCONT);
        case Step::Restore:
            return at_all_in(ProcessState::Checkpointed, [&](pid_t pid) { return restore(pid); });
        case Step::Unlock:
            return at_all_in(ProcessState::Locked,
                             [&](pid_t pid) { return node_.driver.unlock(pid); });
        case Step::End: return {};
    }
    return {};
}

std::vector<pid_t> Processes::pids() const {
    std::vector<pid_t> pids;
    for (const OnGpu& process : on_gpu_) pids.push_back(process.pid);
    return pids;
}

std::int64_t Processes::bytes() const { return node_.use.of(pids()).value_or(-1); }

std::string Processes::measure() const {
    const std::int64_t needed = bytes();
    const auto available = node_.host_memory ? node_.host_memory : available_to(pids());
    if (needed < 0 || !available || needed <= *available) return {};
    return base::format(base::Bytes{needed}) + " on its GPUs do not fit into the " +
           base::format(base::Bytes{std::max<std::int64_t>(0, *available)}) +
           " of host memory that are available";
}

std::string Processes::at_all_in(ProcessState state,
                                 const std::function<CUresult(pid_t)>& call) const {
    std::vector<std::pair<pid_t, std::future<CUresult>>> calls;
    for (const OnGpu& process : on_gpu_) {
        if (process.state != state) continue;
        calls.emplace_back(process.pid, std::async(std::launch::async, call, process.pid));
    }
    std::string failure;
    for (auto& [pid, result] : calls) {
        const CUresult answer = result.get();
        // One that has ended meanwhile is on no GPU.
        if (answer == CUDA_SUCCESS || !supervision::is_living(pid) || !failure.empty()) continue;
        failure = "process " + std::to_string(pid) + ": " + node_.driver.name(answer);
    }
    return failure;
}

// The process that had the GPU before may still be leaving it.
CUresult Processes::restore(pid_t pid) const {
    while (true) {
        const CUresult result = node_.driver.restore(pid, moves_);
        if (result != CUDA_ERROR_OUT_OF_MEMORY || Clock::now() >= deadline_) return result;
        std::this_thread::sleep_for(kAgain);
    }
}

std::string Processes::signal_all(int signal) const {
    const bool halts = signal == SIGSTOP;
    const bool is_done = await(kHaltMax, [&] {
        bool are_all = true;
        auto processes = descendants_of(root_);
        // A shell that looks after its children never finds one halted.
        if (!halts) std::ranges::reverse(processes);
        for (const supervision::Process& process : processes) {
            if (is_stopped(process.pid) == halts) continue;
            ::kill(process.pid, signal);
            are_all = false;
        }
        return are_all;
    });
    return is_done ? "" : halts ? "a process does not halt" : "a process does not wake";
}

std::string Processes::verify() const {
    const std::vector<pid_t> processes = pids();
    const auto is_free = [&] { return node_.use.of(processes).value_or(0) == 0; };
    if (await(kVerifyMax, is_free)) return {};
    return "its memory is still on a GPU";
}

}  // namespace berth::vgpu::freezer
