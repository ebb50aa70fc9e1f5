// SPDX-License-Identifier: Apache-2.0
//
// How is work launched in turn, and how much of the GPU's time did it take?
//
// While a GPU is gated, every launch passes its gate. Behind some of them a mark (an event without
// timing) is recorded in the same stream (stream_marks.h), and behind the last of an iteration
// always. Each stream has marks of its own, and launches into it wait while more of it is under way
// than the arbiter's terms allow (ledger/terms.h, ahead_us): so much is how late a window may end,
// unless one piece of work is longer. A piece follows another without a gap however long they are.
// No launch waits for what another stream does, nor longer than a second: work under way may itself
// wait for what is to be launched.
//
// From the first unfinished launch to the last mark of all streams the GPU is this process's; its
// tenant is charged that time once, whichever others of its processes have the GPU then as well
// (ledger/busy.h). A thread waits for the oldest mark of all and looks at the others when that is
// passed: until then this process has work, whatever they say. A launch that waits for room in
// another stream looks at that one itself.
//
// Nothing is waited for and nothing recorded in a stream that is capturing: a graph is charged
// where it is launched.
#pragma once

#include "vgpu/interposer/process/devices.h"
#include "vgpu/iterations/iterations.h"

namespace berth::vgpu::interposer {

class GatedLaunch {
  public:
    // Waits for the turn, unless `stream` is capturing.
    GatedLaunch(CUstream stream, iterations::Passage passage);
    // After the launch; `result` is what the driver said.
    void launched(CUresult result) const;

  private:
    CUstream stream_;
    iterations::Passage passage_;
    Here here_;
    bool counts_ = false;
};

// The marks of a context go with it.
void forget_marks(CUcontext context);

}  // namespace berth::vgpu::interposer
