// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/tenancy.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <new>
#include <string>

#include "vgpu/interposer/blocks.h"
#include "vgpu/interposer/complain.h"
#include "vgpu/interposer/devices.h"
#include "vgpu/interposer/iterating.h"
#include "vgpu/interposer/now.h"
#include "vgpu/interposer/seat.h"

namespace berth::vgpu::interposer {
namespace {

constexpr int kJoinMs = 5000;
constexpr int kGateMs = 100;  // as long as a dead arbiter can hold somebody back

std::atomic<Seat*> seat{nullptr};
// Shared by whoever charges, exclusive for moving to another seat.
pthread_rwlock_t moving = PTHREAD_RWLOCK_INITIALIZER;
pthread_mutex_t entering = PTHREAD_MUTEX_INITIALIZER;
constexpr std::atomic<std::uint32_t> kNotGated{0};

class Staying {
  public:
    Staying() { ::pthread_rwlock_rdlock(&moving); }
    ~Staying() { ::pthread_rwlock_unlock(&moving); }
    Staying(const Staying&) = delete;
    Staying& operator=(const Staying&) = delete;
};

ledger::Place place_of(Gpu gpu) { return seat.load()->place(static_cast<std::uint32_t>(gpu)); }

// In the child: the slot is the parent's, and no thread of ours lives here.
void forget_parent() {
    Seat* parents = seat.exchange(nullptr);
    gated_word = &kNotGated;
    if (parents != nullptr) ::close(parents->membership.socket);
    moving = PTHREAD_RWLOCK_INITIALIZER;
    entering = PTHREAD_MUTEX_INITIALIZER;
    forget_iterations();
    forget_all_blocks();
    forget_devices();
}

// What this process is charged stands in its own slot alone.
std::uint64_t charged_here(const ledger::Place& place) {
    return place.line->slots[place.slot].charged;
}

void move_to(Seat* next) {
    ::pthread_rwlock_wrlock(&moving);
    const Seat* before = seat.load();
    for (std::uint32_t gpu = 0; before != nullptr && gpu < next->gpu_count; ++gpu) {
        const ledger::Place left = before->place(gpu);
        ledger::charge_regardless(next->place(gpu), charged_here(left));
        ledger::note_high(next->place(gpu), left.line->slots[left.slot].highest);
    }
    seat.store(next);
    gated_word = &next->membership.terms->gated;
    ::pthread_rwlock_unlock(&moving);
}

void let_everybody_pass() { gated_word = &kNotGated; }

// Without a tenant to enter there is nothing to do, and that is fine.
bool enter() {
    const char* socket = ::getenv("BERTH_VGPU_SOCKET");
    if (socket == nullptr || socket[0] == 0 || seat.load() != nullptr) return true;
    std::string reason;
    Seat* first = take_seat(socket, kJoinMs, nullptr, reason);
    if (first == nullptr) {
        complain("this job may not use GPUs without its share: %s", reason.c_str());
        return false;
    }
    static bool is_registered = false;
    if (!is_registered) ::pthread_atfork(nullptr, nullptr, forget_parent);
    is_registered = true;
    learn_devices(*first);
    move_to(first);
    begin_noting();
    watch_seat(first, socket, {move_to, let_everybody_pass});
    return true;
}

}  // namespace

const std::atomic<std::uint32_t>* gated_word = &kNotGated;

bool enter_tenancy() {
    if (seat.load() != nullptr) return true;
    ::pthread_mutex_lock(&entering);
    bool entered = false;
    try {
        entered = enter();
    } catch (const std::bad_alloc&) {
        complain("no host memory left to join this job's share of its GPUs");
    }
    ::pthread_mutex_unlock(&entering);
    return entered;
}

bool is_tenant() { return seat.load() != nullptr; }

int gpu_count() {
    const Seat* here = seat.load();
    return here == nullptr ? 0 : static_cast<int>(here->gpu_count);
}

bool take(Gpu gpu, std::uint64_t bytes) {
    if (gpu == kUnlimited) return true;
    Refusal refusal;
    refusal.asked = bytes;
    if (gpu == kNotGiven) {
        refusal.is_given = false;
        complain_of_limit(refusal);
        return false;
    }
    const Staying staying;
    const ledger::Place place = place_of(gpu);
    if (ledger::charge(place, bytes)) {
        ledger::note_high(place);
        return true;
    }
    refusal.uuid = place.terms->uuid;
    refusal.limit = place.terms->limit_bytes;
    refusal.used = ledger::charged(place);
    refusal.used_here = charged_here(place);
    complain_of_limit(refusal);
    return false;
}

void take_regardless(Gpu gpu, std::uint64_t bytes) {
    if (gpu < 0 || bytes == 0) return;
    const Staying staying;
    const ledger::Place place = place_of(gpu);
    ledger::charge_regardless(place, bytes);
    ledger::note_high(place);
}

void give(Gpu gpu, std::uint64_t bytes) {
    if (gpu < 0 || bytes == 0) return;
    const Staying staying;
    ledger::give_back(place_of(gpu), bytes);
}

Account account_of(Gpu gpu) {
    if (gpu < 0) return {};
    const Staying staying;
    const ledger::Place place = place_of(gpu);
    return {place.terms->limit_bytes, ledger::charged(place), place.terms->context_bytes,
            place.terms->managed != 0};
}

ledger::Gate pass_gate(Gpu gpu) {
    while (gpu >= 0 && gated_word->load(std::memory_order_relaxed) != 0) {
        const Seat* here = seat.load();
        if (here == nullptr) break;
        if (const auto gate = ledger::gate(here->place(static_cast<std::uint32_t>(gpu)));
            gate != ledger::Gate::closed)
            return gate;
        const std::int64_t before = now_ns();
        const auto gate = ledger::wait_at_gate(here->membership, here->places[gpu], kGateMs);
        note_gate(now_ns() - before);
        if (gate != ledger::Gate::closed) return gate;
    }
    return ledger::Gate::open;
}

ledger::Slot* work_slot(Gpu gpu) {
    const Seat* here = seat.load();
    if (here == nullptr || gpu < 0) return nullptr;
    const ledger::Place place = here->place(static_cast<std::uint32_t>(gpu));
    return &place.line->slots[place.slot];
}

void ring_arbiter(Gpu gpu) {
    const Seat* here = seat.load();
    if (here != nullptr && gpu >= 0) ledger::ring(here->membership, here->places[gpu]);
}

}  // namespace berth::vgpu::interposer
