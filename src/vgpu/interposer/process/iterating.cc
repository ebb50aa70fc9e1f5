// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/process/iterating.h"

#include <sched.h>

#include "vgpu/interposer/now.h"
#include "vgpu/interposer/process/tenancy.h"

namespace berth::vgpu::interposer {
namespace {

constexpr std::uint32_t kMeasureEvery = 16;  // launches, where no end is waited for

constinit iterations::Iterations iterations;
std::atomic<bool> is_taken{false};
std::atomic<iterations::Passage> last_known{0};  // kInside, where iterations are known

// Iterations since the last that was measured.
struct Unmeasured {
    std::uint32_t count = 0;
    bool has_odd = true;
    std::uint32_t kind = 0;
    std::int64_t since = 0;         // the end of the last one
    std::int64_t waited_until = 0;  // waited_at_gates_ns() then
};
Unmeasured unmeasured;

// Whether the arbiter waits for the end of each iteration.
bool ends_count() {
    return is_in_rotation.load(std::memory_order_relaxed) &&
           gated_word->load(std::memory_order_relaxed) != 0;
}

class Taken {
  public:
    Taken() {
        while (is_taken.exchange(true, std::memory_order_acquire)) ::sched_yield();
    }
    ~Taken() { is_taken.store(false, std::memory_order_release); }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
};

// Iterations that have just ended, and how they were.
struct Measured {
    std::uint32_t count = 0;
    std::uint64_t ns = 0;  // of all of them; 0: one was odd
    std::uint32_t launches = 0;
    bool is_new = false;  // another iteration than before
};

void write(const Measured& measured, ledger::Slot& slot) {
    const std::uint64_t charged = slot.charged;
    if (measured.is_new) slot.persistent = slot.peak = 0;
    ledger::raise(slot.persistent, charged);
    ledger::raise(slot.peak, slot.high.exchange(charged));
    slot.launches = measured.launches;
    slot.iterations.fetch_add(measured.count);
    if (measured.ns == 0) return;
    slot.timed_iterations.fetch_add(measured.count);
    slot.timed_ns.fetch_add(measured.ns);
}

Measured measure() {
    const std::int64_t now = now_ns();
    const std::int64_t waited = waited_at_gates_ns();
    const std::int64_t took = now - unmeasured.since - (waited - unmeasured.waited_until);
    const bool is_new = unmeasured.kind != iterations.kinds();
    const bool is_timed = !unmeasured.has_odd && !is_new && took > 0;
    const Measured measured{unmeasured.count, is_timed ? static_cast<std::uint64_t>(took) : 0,
                            iterations.period(), is_new};
    unmeasured = {0, false, iterations.kinds(), now, waited};
    return measured;
}

}  // namespace

std::atomic<bool> is_noting{false};

iterations::Passage note(const void* work) {
    if (is_taken.exchange(true, std::memory_order_acquire)) return last_known.load();
    auto passage = iterations.launched(reinterpret_cast<std::uintptr_t>(work));
    if ((passage & iterations::kEnds) != 0) {
        ++unmeasured.count;
        unmeasured.has_odd = unmeasured.has_odd || (passage & iterations::kRegular) == 0;
        if (unmeasured.count * iterations.period() < kMeasureEvery && !ends_count())
            passage &= ~iterations::kEnds;
    }
    last_known.store(passage & iterations::kInside, std::memory_order_relaxed);
    is_taken.store(false, std::memory_order_release);
    return passage;
}

void measure_iterations() {
    const Taken taken;
    const Measured measured = measure();
    for (Gpu gpu = 0; gpu < gpu_count(); ++gpu) {
        const auto place = work_place(gpu);
        if (!place) continue;
        ledger::Slot& slot = place->line->slots[place->slot];
        if (slot.charged == 0) continue;
        write(measured, slot);
        slot.inside = 0;
        // Its arbiter may want to see how much of the GPU's time these take, or to give its turn
        // to another.
        if (measured.is_new || ends_count()) ring_arbiter(gpu);
    }
}

void note_wait(std::int64_t ns) {
    const Taken taken;
    iterations.waited(ns);
}

void begin_noting() { is_noting = true; }

void forget_iterations() {
    is_noting = false;
    is_taken = false;
    last_known = 0;
    iterations = iterations::Iterations{};
    unmeasured = {};
}

}  // namespace berth::vgpu::interposer
