// SPDX-License-Identifier: Apache-2.0
//
// Where may a test kill a process in the middle of a charge? At these passages, in a build of the
// ledger with BERTH_LEDGER_CRASH_POINTS, whose test defines what a passage does. Nothing otherwise.
#pragma once

namespace berth::vgpu::ledger {

#ifdef BERTH_LEDGER_CRASH_POINTS
void passage(const char* name);
#else
inline void passage(const char*) {}
#endif

}  // namespace berth::vgpu::ledger
