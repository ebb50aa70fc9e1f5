// SPDX-License-Identifier: Apache-2.0
//
// Answers supervisors at a socket: Freeze and Thaw of supervision/freezing.h, for the processes
// below the one that asks. Each on a thread of its own, so that no job waits for another's memory.
#pragma once

#include "supervision/descriptor.h"
#include "vgpu/freezer/processes.h"

namespace berth::vgpu::freezer {

// Until `until` is at its end or readable, and everything asked before is answered.
void serve(const Node& node, const supervision::Descriptor& listener, int until);

}  // namespace berth::vgpu::freezer
