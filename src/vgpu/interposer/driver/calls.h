// SPDX-License-Identifier: Apache-2.0
//
// How does the arbiter learn that a program calls the driver? Before each call goes there a word of
// the process's slot is set: by the hooks, by the trampolines of generate_trampolines, and, where
// the tenant may be parked (BERTH_VGPU_PARKS=1), by a thunk in place of every function that a
// lookup gives and that is not hooked. Nothing is waited for: parked, the driver itself holds up
// the call until the process is back.
#pragma once

#include <atomic>

#include "vgpu/interposer/driver/trampolines.h"

namespace berth::vgpu::interposer {

inline void note_call() {
    __atomic_store_n(__atomic_load_n(&berth_driver_called, __ATOMIC_RELAXED), 1U, __ATOMIC_RELAXED);
}

// Calls are noted in this word from now on; null: nowhere.
void note_calls_in(std::atomic<std::uint32_t>* word);

// What a program is to be given in place of a function of the driver.
void* noting(void* function);

}  // namespace berth::vgpu::interposer
