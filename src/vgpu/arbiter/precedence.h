// SPDX-License-Identifier: Apache-2.0
//
// Does a thread run before those of programs where all processors are busy? Who hands a GPU over
// works for some microseconds, and all that share the GPU wait until it does.
#pragma once

#include <string>

namespace berth::vgpu::arbiter {

// The calling thread does from now on, by a real-time class, else by its nice value; processes that
// it starts do not. Empty, or why it may do neither and what allows it, a sentence without its end.
std::string take_precedence();

// What a thread of this process would be answered: one tries and ends.
std::string precedence_lack();

}  // namespace berth::vgpu::arbiter
