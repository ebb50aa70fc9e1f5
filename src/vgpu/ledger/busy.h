// SPDX-License-Identifier: Apache-2.0
//
// How much of a GPU's time was its tenant's? The time in which any of its processes had work there,
// each instant once, however many of them had.
//
// A process says since when it has work; the line says until when the tenant's time has been
// counted. Who counts takes what lies between that and now, and in which some process has had work
// without end: since the one that has had it longest. Each process counts before it says that its
// work has ended, so no time before what was counted is left over. Who is killed within this leaves
// at most one piece uncounted.
//
// Costs a read for each process of the tenant. Times are CLOCK_MONOTONIC in ns.
#pragma once

#include <cstdint>

#include "vgpu/ledger/charge.h"

namespace berth::vgpu::ledger {

// The process of this place has work from now on, if it had none.
void begin_busy(const Place& place, std::int64_t now);
// Some of it has ended: what is left it has had `since` then; 0: nothing is left.
void end_busy(const Place& place, std::int64_t now, std::int64_t since = 0);

// Counts until now what the tenant's processes take, as this place's: its `busy_ns` grows.
void count_busy(const Place& place, std::int64_t now);
// Counts work whose end will not be seen: `ns` from now on, or behind what was counted ahead.
void count_ahead(const Place& place, std::int64_t now, std::int64_t ns);

}  // namespace berth::vgpu::ledger
