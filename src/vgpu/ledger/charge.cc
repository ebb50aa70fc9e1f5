// SPDX-License-Identifier: Apache-2.0
#include "vgpu/ledger/charge.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

#include <algorithm>

#include "vgpu/ledger/crash_point.h"

namespace berth::vgpu::ledger {
namespace {

constexpr int kSettlingMs = 5000;
// No longer is anybody waited for in turn: who asks may have been killed or stopped at it.
constexpr int kLooks = 16;

std::uint64_t limit_of(const Place& place) {
    return std::min(place.terms->limit_bytes.load(), kNoLimit);
}

void wait_until_settled(const Place& place) {
    for (int ms = 0; ms < kSettlingMs && place.terms->settling.load() != 0; ++ms) {
        const timespec pause{0, 1'000'000};
        ::nanosleep(&pause, nullptr);
    }
}

bool lock(Line& line) {
    const int status = ::pthread_mutex_lock(&line.queue);
    // The last owner died in turn. All it could leave is its own slot.
    if (status == EOWNERDEAD) return ::pthread_mutex_consistent(&line.queue) == 0;
    return status == 0;
}

// Asks that are out of turn. Read before the sum: a process that asks later has seen the queue.
bool anybody_asks(const Place& place) {
    const std::uint32_t end = std::min(place.terms->slots_end.load(), kSlotsMax);
    const Slot* slots = place.line->slots;
    return std::any_of(slots, slots + end, [](const Slot& slot) { return slot.asking != 0; });
}

bool charge_in_turn(const Place& place, std::uint64_t bytes) {
    Line& line = *place.line;
    Slot& slot = line.slots[place.slot];
    if (!lock(line)) return false;
    line.queued.store(1);
    passage("in-turn");
    slot.charged.fetch_add(bytes);
    passage("in-turn-published");
    // What is over the limit may be an asker of before the queue formed, with bytes to take back.
    bool is_asked = true;
    bool fits = false;
    for (int look = 0; look < kLooks && is_asked && !fits; ++look) {
        if (look > 0) {
            passage("in-turn-again");
            ::sched_yield();
        }
        is_asked = anybody_asks(place);
        fits = charged(place) <= limit_of(place);
    }
    if (!fits) slot.charged.fetch_sub(bytes);
    passage("in-turn-decided");
    line.queued.store(0);
    ::pthread_mutex_unlock(&line.queue);
    return fits;
}

}  // namespace

bool charge(const Place& place, std::uint64_t bytes) {
    if (place.terms->settling.load() != 0) [[unlikely]]
        wait_until_settled(place);
    if (bytes > limit_of(place)) return false;  // and no sum can overflow
    Line& line = *place.line;
    Slot& slot = line.slots[place.slot];
    ++slot.asking;
    bool fits = false;
    if (line.queued.load() == 0) [[likely]] {
        slot.charged.fetch_add(bytes);
        passage("published");
        fits = charged(place) <= limit_of(place);
        if (!fits) {
            slot.charged.fetch_sub(bytes);
            passage("taken-back");
        }
    }
    --slot.asking;
    if (fits) [[likely]]
        return true;
    return charge_in_turn(place, bytes);
}

void charge_regardless(const Place& place, std::uint64_t bytes) {
    place.line->slots[place.slot].charged.fetch_add(std::min(bytes, kNoLimit));
}

void raise(std::atomic<std::uint64_t>& word, std::uint64_t value) {
    std::uint64_t seen = word.load(std::memory_order_relaxed);
    while (seen < value && !word.compare_exchange_weak(seen, value)) {
    }
}

void note_high(const Place& place, std::uint64_t before) {
    Slot& slot = place.line->slots[place.slot];
    const std::uint64_t charged = slot.charged.load(std::memory_order_relaxed);
    raise(slot.high, charged);
    raise(slot.highest, std::max(charged, before));
}

void give_back(const Place& place, std::uint64_t bytes) {
    place.line->slots[place.slot].charged.fetch_sub(bytes);
    passage("given-back");
}

std::uint64_t charged(const Place& place) {
    const std::uint32_t end = std::min(place.terms->slots_end.load(), kSlotsMax);
    std::uint64_t sum = std::min(place.terms->uncounted_bytes.load(), kNoLimit);
    for (std::uint32_t slot = 0; slot < end; ++slot) sum += place.line->slots[slot].charged.load();
    return sum;
}

bool prepare(Line& line) {
    pthread_mutexattr_t attributes;
    if (const int status = ::pthread_mutexattr_init(&attributes); status != 0) {
        errno = status;
        return false;
    }
    ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    const int status = ::pthread_mutex_init(&line.queue, &attributes);
    ::pthread_mutexattr_destroy(&attributes);
    errno = status;
    return status == 0;
}

}  // namespace berth::vgpu::ledger
