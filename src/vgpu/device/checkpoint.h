// SPDX-License-Identifier: Apache-2.0
//
// How is a process taken off its GPUs and put back, from outside?
//
// running -> locked: its calls wait from now on, and what its streams hold is finished.
// locked -> checkpointed: nothing of it is on any GPU; its contents are kept, and so are its
// addresses. checkpointed -> locked: all of it is back, on the same GPUs or on others.
// locked -> running: its calls go on. A checkpoint that fails leaves the process failed, for good.
#pragma once

#include <cstdint>

#include "vgpu/device/shared_state.h"

namespace berth::vgpu::device {

enum class Outcome {
    Done,
    NoProcess,
    WrongState,
    TimedOut,
    Unsupported,  // it has managed memory or shares memory with other processes
    OutOfMemory,
    Failed,
};

// timeout_ms 0: for as long as it takes.
Outcome lock_process(const SharedState& state, std::int32_t pid, std::uint32_t timeout_ms);
Outcome checkpoint_process(const SharedState& state, std::int32_t pid);
// `placement`: for each of its GPUs, 4 bits a GPU, where its memory goes.
Outcome restore_process(const SharedState& state, std::int32_t pid, std::uint64_t placement);
Outcome unlock_process(const SharedState& state, std::int32_t pid);

}  // namespace berth::vgpu::device
