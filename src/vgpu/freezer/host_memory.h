// SPDX-License-Identifier: Apache-2.0
//
// Is there host memory for what comes off the GPUs? The driver puts it into the process itself, so
// it counts as that process's in its cgroup as well.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace berth::vgpu::freezer {

// Left to the machine: page cache and the growth of those who go on.
inline constexpr std::int64_t kHostReserve = std::int64_t{1} << 30;

// What more the processes may take, by the kernel's estimate (MemAvailable less kHostReserve) and
// the memory limits of their cgroups (v2); the smallest counts. Nothing when it cannot be read.
std::optional<std::int64_t> available_to(std::span<const pid_t> pids);

}  // namespace berth::vgpu::freezer
