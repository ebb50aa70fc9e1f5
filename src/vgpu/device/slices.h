// SPDX-License-Identifier: Apache-2.0
//
// Which parts of the machine have memory and an engine of their own? Its GPUs by their numbers, and
// behind them the slices that some are cut into (MIG). Both are units here: whatever counts memory
// or serves kernels does it for a unit. A GPU that is cut takes no work itself.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "vgpu/device/configuration.h"

namespace berth::vgpu::device {

inline constexpr std::uint32_t kComputeSlices = 7;  // that a GPU has

// Reads "0:3g.40gb, 0:1g.10gb, 1:7g.80gb". False where that is no list of slices.
bool read_slices(std::string_view text, Description& to);

// Empty, or what does not fit: a sentence.
std::string problem_with_slices(const Description& description);

std::uint32_t units(const Description& description);
bool is_slice(const Description& description, std::uint32_t unit);
bool is_cut(const Description& description, std::uint32_t gpu);
// The GPU that the unit is, or is cut from.
std::uint32_t gpu_of(const Description& description, std::uint32_t unit);

std::uint64_t memory_of(const Description& description, std::uint32_t unit);
std::uint64_t reserved_of(const Description& description, std::uint32_t unit);
std::uint32_t sms_of(const Description& description, std::uint32_t unit);
// "Software GPU MIG 1g.10gb".
std::string name_of(const Description& description, std::uint32_t unit);
// "GPU-...", of a slice "MIG-...".
std::string uuid_of(const Description& description, std::uint32_t unit);

}  // namespace berth::vgpu::device
