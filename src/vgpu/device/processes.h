// SPDX-License-Identifier: Apache-2.0
//
// Which processes are on the GPUs, and what becomes of one that ends?
//
// A process that is gone, by whatever death, loses all it had `release_delay` after another process
// first saw it gone. Processes see each other through /proc, so they share a pid namespace.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/device/shared_state.h"

namespace berth::vgpu::device {

// The calling process's number, kept until it ends; kNobody when all are taken.
std::uint32_t enrol(const SharedState& state);

// The number of the process `pid`, or kNobody.
std::uint32_t find_process(const SharedState& state, std::int32_t pid);

// Those that are enrolled and alive, or dead and not yet released.
std::vector<std::uint32_t> enrolled(const SharedState& state);

enum class Sweep { Now, WhenDue };  // due once a millisecond

// Releases what the dead had. The caller holds the lock.
void sweep(const SharedState& state, Sweep when);

}  // namespace berth::vgpu::device
