// SPDX-License-Identifier: Apache-2.0
//
// Which processes hold how much of which GPU? Printed as the management library says it, once a
// second until standard input ends: a line "GPU PID BYTES" for each, then "end".
#pragma once

#include <string>
#include <vector>

namespace berth::vgpu::probe {

// `gpus` by UUID. One that cannot be asked is left out.
void tell_users(const std::string& nvml, const std::vector<std::string>& gpus);

}  // namespace berth::vgpu::probe
