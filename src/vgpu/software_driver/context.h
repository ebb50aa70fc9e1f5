// SPDX-License-Identifier: Apache-2.0
//
// Which context is current on a thread, and what belongs to a context?
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "vgpu/abi/cuda_process.h"

namespace berth::vgpu::software_driver {

struct Driver;
struct Stream;

struct Context {
    CUdevice device = 0;
    unsigned int flags = 0;
    unsigned long long id = 0;
    bool is_primary = false;
    CUresult error = CUDA_SUCCESS;  // once a kernel has failed, of every call
    Stream* legacy = nullptr;       // the default stream
    std::map<CUlimit, std::size_t> limits;
    std::set<const Context*> peers;
};

// Null when there is none, or it was destroyed meanwhile.
Context* current_context(Driver& driver);

// Charges the GPU for a context and makes it; null when there is no room.
Context* make_context(Driver& driver, CUdevice device, unsigned int flags);

// Everything that was made in the context goes with it.
void destroy_context(Driver& driver, Context& context);

}  // namespace berth::vgpu::software_driver
