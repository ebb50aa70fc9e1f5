// SPDX-License-Identifier: Apache-2.0
//
// Below which supervisor does a process run? Processes of a job may be of the arbiter's own user;
// what tells them from their owner is that their supervisor is above them: it takes in what they
// leave behind, so that none gets out from under it.
#pragma once

#include <sys/types.h>

namespace berth::vgpu::arbiter {

// The nearest process above it that calls itself ledger::kSupervisorName; 0: there is none, or the
// process cannot be seen from here. A process so deep that it is not looked at counts as below
// itself.
pid_t supervisor_above(pid_t process);

}  // namespace berth::vgpu::arbiter
