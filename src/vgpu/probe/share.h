// SPDX-License-Identifier: Apache-2.0
//
// Does this process meet its share of a GPU? It is started as a job's process is: the driver and
// the management library are asked by name, as any program asks them, and both have to show no more
// memory than the share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth::vgpu::probe {

struct Expected {
    std::uint64_t limit = 0;  // bytes of the first GPU
    std::string gpu;  // its UUID
    std::vector<std::string> files;  // libraries that have to load, by path
};

// Empty: it does. A library that does not load goes before what follows from that.
std::string why_no_share(const Expected& expected);

}  // namespace berth::vgpu::probe
