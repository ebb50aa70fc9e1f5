// SPDX-License-Identifier: Apache-2.0
//
// As whom does this process use GPUs, and what may it take of them? As a member of the tenant that
// it has joined (joining.h), or of none: then it is unlimited.
//
// Its slot has what it is charged. It brings that to an arbiter that was restarted: both map the
// memory of the slot.
#pragma once

#include <cstdint>
#include <optional>

#include "vgpu/abi/cuda_values.h"
#include "vgpu/interposer/process/gpu.h"
#include "vgpu/iterations/iterations.h"
#include "vgpu/ledger/admission.h"
#include "vgpu/ledger/gate.h"

namespace berth::vgpu::interposer {

struct Seat;

// Null: of no tenant.
const Seat* current_seat();
// From now on this process is charged at that seat, with what it was charged at the one before.
void move_to(Seat* next);
// No gate is closed any more: its arbiter has gone.
void let_everybody_pass();
// In a forked child.
void forget_seat();

bool is_tenant();

Gpu gpu_of(CUdevice device);
// Of its terms: 0 where this process belongs to no tenant.
int gpu_count();

// Charges bytes to this process; on false why is on stderr. An unlimited GPU takes all. May wait
// for minutes, for others to make room: the caller holds no lock.
[[nodiscard]] bool take(Gpu gpu, std::uint64_t bytes);
// Likewise, with what there is now.
enum class Refused { Said, Unsaid };
[[nodiscard]] bool take_at_once(Gpu gpu, std::uint64_t bytes, Refused refused);
void take_regardless(Gpu gpu, std::uint64_t bytes);
void give(Gpu gpu, std::uint64_t bytes);

struct Account {
    std::uint64_t limit = 0;  // in its turn, where it has turns
    std::uint64_t used = 0;  // by the tenant
    std::uint64_t context = 0;
    bool managed_may_pass = false;
};
// Of a limited GPU.
Account account_of(Gpu gpu);

// Non-zero: at least one GPU is gated. One load, for the path of every launch.
extern const std::atomic<std::uint32_t>* gated_word;

// Whether turns go by iterations (vgpu/windows/rotation.h): their ends must be reported at once.
extern std::atomic<bool> is_in_rotation;

// While it lives its thread is in a call that may wait for work: that is not idleness.
class InCall {
  public:
    InCall();
    ~InCall();
    InCall(const InCall&) = delete;
    InCall& operator=(const InCall&) = delete;

  private:
    std::atomic<std::uint32_t>* threads_ = nullptr;
};

// Waits while the gate of a GPU is closed to this launch. Open where there is no arbiter to ask.
ledger::Gate pass_gate(Gpu gpu, iterations::Passage passage);
// How long threads have waited at gates, and for room, all together.
std::int64_t waited_at_gates_ns();
// How much work this process may have launched ahead of a GPU that is gated, in ns.
std::int64_t ahead_ns(Gpu gpu);
// What the arbiter schedules by.
std::optional<ledger::Place> work_place(Gpu gpu);
void ring_arbiter(Gpu gpu);

}  // namespace berth::vgpu::interposer
