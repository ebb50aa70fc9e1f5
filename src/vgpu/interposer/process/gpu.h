// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::vgpu::interposer {

// Of a device: its place in the tenant's terms, or why it has none.
using Gpu = int;
inline constexpr Gpu kUnlimited = -1;  // this process belongs to no tenant
inline constexpr Gpu kNotGiven = -2;  // the tenant has no share of this device

}  // namespace berth::vgpu::interposer
