// SPDX-License-Identifier: Apache-2.0
//
// What is bound to a multicast object? It holds the memory until it is unbound or the object goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "vgpu/abi/cuda.h"

namespace berth::vgpu::software_driver {

struct Multicast {
    struct Bound {
        std::uint32_t block = 0;
        std::size_t bytes = 0;
    };

    std::size_t bytes = 0;
    unsigned int devices_wanted = 0;
    std::set<CUdevice> devices;
    std::map<std::pair<CUdevice, std::size_t>, Bound> bound;  // by device and offset
};

// Their handles begin here, far from those of memory.
inline constexpr CUmemGenericAllocationHandle kFirstMulticast = 1ULL << 40U;

}  // namespace berth::vgpu::software_driver
