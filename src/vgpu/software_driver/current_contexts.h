// SPDX-License-Identifier: Apache-2.0
//
// Which contexts did the calling thread push? The last is the current one; any may be destroyed.
#pragma once

#include <vector>

namespace berth::vgpu::software_driver {

struct Context;

std::vector<Context*>& current_contexts();

}  // namespace berth::vgpu::software_driver
