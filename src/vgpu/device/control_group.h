// SPDX-License-Identifier: Apache-2.0
//
// How much of a GPU's memory may the processes of one control group have together? As a driver does
// that keeps to the kernel's dmem controller: `dmem.max` of the group is the limit, read at each
// allocation.
//
// The groups need not be the kernel's: any tree of folders with such files serves. A process is in
// the group whose `cgroup.procs` lists it, or else the nearest of its ancestors that is listed.
#pragma once

#include <cstdint>
#include <string>

namespace berth::vgpu::device {

inline constexpr std::uint64_t kNoLimit = ~0ULL;

// The folder of the process's group below `root`; empty when it is in none.
std::string control_group_of(const std::string& root, std::int32_t pid);

// Tells groups apart in the shared state; 0 for none.
std::uint64_t control_group_id(const std::string& group);

// Bytes of that GPU's memory, as "nvidia/0000:03:00.0/vidmem 4294967296" says.
std::uint64_t memory_limit(const std::string& group, std::uint32_t gpu);

}  // namespace berth::vgpu::device
