// SPDX-License-Identifier: Apache-2.0
//
// How does a process stay a member while its arbiter comes and goes? A thread waits for the end of
// the connection and then asks for a new seat until it gets one. A seat once had stays mapped: a
// thread may still look at it, and the arbiter's end is rare.
#pragma once

#include "vgpu/interposer/process/gpu.h"
#include "vgpu/ledger/admission.h"

namespace berth::vgpu::interposer {

struct Seat {
    ledger::Membership membership;
    // The GPUs in the order of this process's first seat, wherever they are in these terms.
    std::uint32_t gpu_count = 0;
    std::uint32_t places[ledger::kGpusMax] = {};

    ledger::Place place(std::uint32_t gpu) const { return membership.place(places[gpu]); }
    // By "GPU-..." or "MIG-...": the kind of device may be written differently, the rest counts.
    // kNotGiven when the tenant has no share of it.
    Gpu find(const char* uuid) const;
};

// A new seat with the GPUs in the order of `before`, or of its own where that is null; nullptr
// with the reason.
Seat* take_seat(const char* socket, int timeout_ms, const Seat* before, ledger::Reason& reason);

struct SeatChanges {
    void (*move_to)(Seat*) = nullptr;
    void (*arbiter_has_gone)() = nullptr;
};
// Starts the thread; calls `changes` from it.
void watch_seat(const Seat* seat, const char* socket, const SeatChanges& changes);

// A detached thread that takes no signals of the program's. False when there can be none.
bool start_thread(void* (*body)(void*), void* argument);

}  // namespace berth::vgpu::interposer
