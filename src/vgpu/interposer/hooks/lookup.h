// SPDX-License-Identifier: Apache-2.0
//
// Which function does a program get that asks the driver for one by name, version and flags? The
// driver is asked first; where it gave a function that has a hook, the program gets the hook. A
// program with a share gets nothing that is not known here, as from a driver of the newest version
// that is (docs/adr/0029).
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

// The newest version of CUDA whose functions are known here.
inline constexpr int kKnownVersion = 13050;

struct Known {
    bool is_known = true;  // false: newer than this library
    void* hook = nullptr;  // null: to be passed on
};

// What is known here of the driver's answer.
Known known_of(const char* symbol, void* answer, int version, bool per_thread);

}  // namespace berth::vgpu::interposer
