// SPDX-License-Identifier: Apache-2.0
#include "vgpu/device/checkpoint.h"

#include <chrono>
#include <thread>

#include "vgpu/device/memory.h"
#include "vgpu/device/processes.h"

namespace berth::vgpu::device {
namespace {

// Runs body(Process&, number) with the lock, when `pid` is there and in state `wanted`.
template <class Body>
Outcome change(const SharedState& state, std::int32_t pid, CheckpointState wanted, Body body) {
    const Locked locked(state);
    sweep(state, Sweep::Now);
    const std::uint32_t number = find_process(state, pid);
    if (number == kNobody) return Outcome::NoProcess;
    Process& process = state->processes[number];
    if (process.state.load() != wanted) return Outcome::WrongState;
    return body(process, number);
}

std::uint64_t bytes_of(const Layout& layout, std::uint32_t process) {
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < layout.blocks_end; ++i)
        if (layout.blocks[i].payer.load() == process) bytes += layout.blocks[i].bytes.load();
    return bytes;
}

// Moving the bytes takes as long as the link to the host needs.
void spend_copy_time(const SharedState& state, std::uint64_t bytes) {
    const double seconds =
        static_cast<double>(bytes) / static_cast<double>(state->description.copy_bytes_per_s);
    state.pass_until(state.now_ns() + static_cast<std::uint64_t>(seconds * 1e9));
}

bool is_quiet(const Process& process) {
    return process.calls.load() == 0 && process.pending.load() == 0;
}

}  // namespace

Outcome lock_process(const SharedState& state, std::int32_t pid, std::uint32_t timeout_ms) {
    std::uint32_t number = kNobody;
    const Outcome begun =
        change(state, pid, CheckpointState::Running, [&](Process& process, std::uint32_t found) {
            process.state.store(CheckpointState::Locked);
            number = found;
            return Outcome::Done;
        });
    if (begun != Outcome::Done) return begun;
    const std::uint64_t end_ns = steady_ns() + timeout_ms * 1'000'000ULL;
    Process& process = state->processes[number];
    while (!is_quiet(process)) {
        const bool is_late = timeout_ms != 0 && steady_ns() >= end_ns;
        if (is_late || process.pid.load() != pid) {
            process.state.store(CheckpointState::Running);
            return is_late ? Outcome::TimedOut : Outcome::NoProcess;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        const Locked locked(state);
        sweep(state, Sweep::WhenDue);
    }
    return Outcome::Done;
}

Outcome checkpoint_process(const SharedState& state, std::int32_t pid) {
    std::uint64_t bytes = 0;
    const Outcome ready =
        change(state, pid, CheckpointState::Locked, [&](Process& process, std::uint32_t number) {
            if (process.is_unmovable.load() != 0) return Outcome::Unsupported;
            bytes = bytes_of(*state, number);
            return Outcome::Done;
        });
    if (ready != Outcome::Done) return ready;
    const CheckpointOutcome outcome = state->description.checkpoint;
    if (outcome == CheckpointOutcome::Unsupported) return Outcome::Unsupported;
    if (outcome == CheckpointOutcome::OutOfMemory) return Outcome::OutOfMemory;
    spend_copy_time(state, bytes);
    return change(state, pid, CheckpointState::Locked, [&](Process& process, std::uint32_t) {
        const bool fails = outcome == CheckpointOutcome::Fails;
        process.state.store(fails ? CheckpointState::Failed : CheckpointState::Checkpointed);
        recount(*state);
        return fails ? Outcome::Failed : Outcome::Done;
    });
}

Outcome restore_process(const SharedState& state, std::int32_t pid, std::uint64_t placement) {
    std::uint64_t bytes = 0;
    const Outcome back = change(state, pid, CheckpointState::Checkpointed,
                                [&](Process& process, std::uint32_t number) {
                                    if (!has_room(*state, number, placement))
                                        return Outcome::OutOfMemory;
                                    // The place first: until the state says so, nothing of it is
                                    // anywhere.
                                    process.placement.store(placement);
                                    process.state.store(CheckpointState::Locked);
                                    recount(*state);
                                    bytes = bytes_of(*state, number);
                                    return Outcome::Done;
                                });
    if (back == Outcome::Done) spend_copy_time(state, bytes);
    return back;
}

Outcome unlock_process(const SharedState& state, std::int32_t pid) {
    return change(state, pid, CheckpointState::Locked, [&](Process& process, std::uint32_t) {
        process.state.store(CheckpointState::Running);
        return Outcome::Done;
    });
}

}  // namespace berth::vgpu::device
