// SPDX-License-Identifier: Apache-2.0
//
// Which function does a program get that asks the driver for one by name, version and flags? The
// driver is asked first and its answer kept; where it gave a function that has a hook, the program
// gets the hook. What is not known here is passed on, counted, and said once.
#pragma once

#include <cstdint>

namespace berth::vgpu::interposer {

struct Hook {
    const char* exported = nullptr;  // as the driver exports it: cuMemAlloc_v2
    const char* asked = nullptr;     // as cuGetProcAddress knows it: cuMemAlloc
    int since = 0;                   // the version from which on this one is meant
    bool per_thread = false;         // where the per-thread default stream is asked for
    void* function = nullptr;
};

// The hook for what the driver answered; null where there is none.
void* hook_for(const char* symbol, void* answer, int version, bool per_thread);

}  // namespace berth::vgpu::interposer
