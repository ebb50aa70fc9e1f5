// SPDX-License-Identifier: Apache-2.0
//
// Where is this process in its iterations (vgpu/iterations), and what do they take? Every launch
// is noted; at the ends of iterations their number, length and memory are written into the slots of
// this process, for the arbiter to read. An iteration belongs to the process, whichever of its GPUs
// it launches on; its length is without what it waited at gates.
//
// Outside rotations iterations of less than 16 launches are measured together: a launch must not
// pay for a look at the clock. Two threads that launch at the same instant are noted as one; such
// programs have no order of launches to find an iteration in.
#pragma once

#include <atomic>
#include <cstdint>

#include "vgpu/iterations/iterations.h"

namespace berth::vgpu::interposer {

// Whether this process is a tenant's, whose launches are noted.
extern std::atomic<bool> is_noting;
iterations::Passage note(const void* work);

// Before a launch of a function or graph. kEnds only where it is time to measure.
inline iterations::Passage note_launch(const void* work) {
    return is_noting.load(std::memory_order_relaxed) ? note(work) : iterations::Passage{0};
}
// After a launch that ended an iteration.
void measure_iterations();
// The program has waited for its work.
void note_wait(std::int64_t ns);

void begin_noting();
// In a forked child: nothing is known of it.
void forget_iterations();

}  // namespace berth::vgpu::interposer
