// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/process/tenancy.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>

#include "vgpu/interposer/complain.h"
#include "vgpu/interposer/driver/calls.h"
#include "vgpu/interposer/now.h"
#include "vgpu/interposer/process/seat.h"

namespace berth::vgpu::interposer {
namespace {

constexpr int kGateMs = 100;  // as long as a dead arbiter can hold a launch back
constexpr int kLookMs = 2;    // within which an arbiter looks that was rung for
constexpr int kLooksMax = 50;  // then it is refused; an arbiter may be late on a busy machine
// The longest that its arbiter may take to make room for an owner, by any means.
constexpr std::int64_t kRoomNs = 150'000'000'000;
constexpr int kAnswersMax = 3;  // a borrower may be answered once for what others asked
constexpr std::uint32_t kNoTurn = UINT32_MAX;

std::atomic<Seat*> seat{nullptr};
// Shared by threads that charge, exclusive for moving to another seat.
pthread_rwlock_t moving = PTHREAD_RWLOCK_INITIALIZER;
constexpr std::atomic<std::uint32_t> kNotGated{0};
// In which turn on each GPU the last iteration began.
std::atomic<std::uint32_t> last_turn[ledger::kGpusMax];

class Staying {
  public:
    Staying() { ::pthread_rwlock_rdlock(&moving); }
    ~Staying() { ::pthread_rwlock_unlock(&moving); }
    Staying(const Staying&) = delete;
    Staying& operator=(const Staying&) = delete;
};

ledger::Place place_of(Gpu gpu) { return seat.load()->place(static_cast<std::uint32_t>(gpu)); }

// Only its own slot has what this process is charged.
std::uint64_t charged_here(const ledger::Place& place) {
    return place.line->slots[place.slot].charged;
}

// Its line of the tenant's first GPU, where calls are noted.
ledger::Slot& first_slot(const Seat& of) {
    const ledger::Place place = of.membership.place(0);
    return place.line->slots[place.slot];
}

std::atomic<std::int64_t> waited_ns{0};  // at gates

}  // namespace

const std::atomic<std::uint32_t>* gated_word = &kNotGated;
std::atomic<bool> is_in_rotation{false};

const Seat* current_seat() { return seat.load(); }

void move_to(Seat* next) {
    ::pthread_rwlock_wrlock(&moving);
    const Seat* before = seat.load();
    for (std::uint32_t gpu = 0; before != nullptr && gpu < next->gpu_count; ++gpu) {
        const ledger::Place left = before->place(gpu);
        ledger::charge_regardless(next->place(gpu), charged_here(left));
        ledger::note_high(next->place(gpu), left.line->slots[left.slot].highest);
    }
    for (auto& turn : last_turn) turn = kNoTurn;
    is_in_rotation = next->gpu_count > 0 && next->place(0).terms->in_rotation != 0;
    if (next->gpu_count > 0) {
        ledger::Slot& slot = first_slot(*next);
        if (before != nullptr) {
            const ledger::Slot& left = first_slot(*before);
            if (left.called != 0) slot.called = 1;
        }
        note_calls_in(&slot.called);
    }
    seat.store(next);
    gated_word = &next->membership.terms->gated;
    ::pthread_rwlock_unlock(&moving);
}

void let_everybody_pass() { gated_word = &kNotGated; }

void forget_seat() {
    const Seat* const parents = seat.exchange(nullptr);
    let_everybody_pass();
    note_calls_in(nullptr);
    if (parents != nullptr) ::close(parents->membership.socket);
    moving = PTHREAD_RWLOCK_INITIALIZER;
    waited_ns = 0;
}

bool is_tenant() { return seat.load() != nullptr; }

int gpu_count() {
    const Seat* here = seat.load();
    return here == nullptr ? 0 : static_cast<int>(here->gpu_count);
}

namespace {

// Whether the limit now is the one of a turn, which this process has.
bool has_turn(Gpu gpu, const ledger::Place& place, std::uint32_t word) {
    if (ledger::gate_of(word) != ledger::Gate::turn)
        return ledger::gate_of(word) != ledger::Gate::closed;
    return ledger::turn_of(word) != last_turn[gpu] || place.line->slots[place.slot].inside != 0;
}

// What was seen before bytes were tried for, and how long it was waited for them. Time in which
// this process was halted is none of that.
struct Attempt {
    std::uint32_t gate = 0;
    std::uint32_t answers = 0;
    int looks = 0;
    std::int64_t waited_ns = 0;
};

// In a rotation, what does not fit now may fit in the next turn; and in a turn, once the arbiter
// has seen what others have freed. False when there is nothing to wait for.
bool wait_for_turn(Gpu gpu, std::uint64_t bytes, Attempt& attempt) {
    const Seat* here = seat.load();
    const ledger::Place place = here->place(static_cast<std::uint32_t>(gpu));
    const std::uint64_t shown = place.terms->shown_bytes;
    if (place.terms->in_rotation == 0 || bytes > shown || ledger::charged(place) > shown - bytes)
        return false;
    if (has_turn(gpu, place, attempt.gate)) {
        ledger::wait_for_change(here->membership, here->places[gpu], attempt.gate, kLookMs);
        return ++attempt.looks <= kLooksMax;
    }
    const std::int64_t before = now_ns();
    ledger::wait_for_change(here->membership, here->places[gpu], attempt.gate, kGateMs);
    waited_ns.fetch_add(now_ns() - before);
    return true;
}

// What does not fit into the limit now may fit when its arbiter knows: into what others do not use,
// or into what they have to give back to it. False when there is nothing to wait for.
bool wait_for_room(Gpu gpu, std::uint64_t bytes, Attempt& attempt) {
    const Seat* here = seat.load();
    const ledger::Place place = here->place(static_cast<std::uint32_t>(gpu));
    const std::uint64_t burst = place.terms->shown_bytes;
    const std::uint64_t charged = ledger::charged(place);
    if (place.terms->in_rotation != 0 || bytes > burst || charged > burst - bytes) return false;
    if (attempt.waited_ns > kRoomNs) return false;
    const bool is_owner = charged + bytes <= place.terms->request_bytes;
    if (!is_owner && ++attempt.looks > kAnswersMax) return false;
    const std::int64_t before = now_ns();
    ledger::wait_for_room(here->membership, here->places[gpu], bytes, attempt.answers, kGateMs);
    const std::int64_t took = now_ns() - before;
    attempt.waited_ns += std::min<std::int64_t>(took, kGateMs * 1'000'000);
    waited_ns.fetch_add(took);
    return true;
}

Refusal asked(Gpu gpu, std::uint64_t bytes) {
    Refusal refusal;
    refusal.asked = bytes;
    refusal.is_given = gpu != kNotGiven;
    return refusal;
}

// Charges, or says why not.
bool try_to_take(Gpu gpu, std::uint64_t bytes, Attempt& attempt, Refusal& refusal) {
    const Staying staying;
    const ledger::Place place = place_of(gpu);
    attempt.gate = place.terms->gate;
    attempt.answers = place.terms->answers;
    if (ledger::charge(place, bytes)) {
        ledger::note_high(place);
        return true;
    }
    refusal.uuid = place.terms->uuid;
    refusal.limit = place.terms->limit_bytes;
    refusal.request = place.terms->request_bytes;
    refusal.burst = place.terms->in_rotation == 0 ? place.terms->shown_bytes.load() : 0;
    refusal.used = ledger::charged(place);
    refusal.used_here = charged_here(place);
    return false;
}

}  // namespace

bool take_at_once(Gpu gpu, std::uint64_t bytes, Refused refused) {
    if (gpu == kUnlimited || bytes == 0) return true;
    Refusal refusal = asked(gpu, bytes);
    Attempt attempt;
    if (refusal.is_given && try_to_take(gpu, bytes, attempt, refusal)) return true;
    if (refused == Refused::Said) complain_of_limit(refusal);
    return false;
}

bool take(Gpu gpu, std::uint64_t bytes) {
    if (gpu == kUnlimited) return true;
    Refusal refusal = asked(gpu, bytes);
    Attempt attempt;
    while (refusal.is_given) {
        if (try_to_take(gpu, bytes, attempt, refusal)) return true;
        if (!wait_for_turn(gpu, bytes, attempt) && !wait_for_room(gpu, bytes, attempt)) break;
    }
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
    return {place.terms->shown_bytes, ledger::charged(place), place.terms->context_bytes,
            place.terms->managed != 0};
}

namespace {

bool may_pass(Gpu gpu, std::uint32_t word, bool begins) {
    if (ledger::gate_of(word) != ledger::Gate::turn)
        return ledger::gate_of(word) != ledger::Gate::closed;
    return !begins || ledger::turn_of(word) != last_turn[gpu];
}

}  // namespace

ledger::Gate pass_gate(Gpu gpu, iterations::Passage passage) {
    const bool begins = (passage & iterations::kBegins) != 0;
    const bool is_inside = (passage & iterations::kInside) != 0;
    while (gpu >= 0 && gated_word->load(std::memory_order_relaxed) != 0) {
        const Seat* here = seat.load();
        if (here == nullptr) break;
        const ledger::Place place = here->place(static_cast<std::uint32_t>(gpu));
        ledger::Slot& slot = place.line->slots[place.slot];
        // First said, then looked: who closes the gate and then sees nothing begun may trust it.
        slot.inside = is_inside ? 1 : 0;
        if (!is_inside) slot.launches = 0;
        const std::uint32_t word = place.terms->gate;
        if (may_pass(gpu, word, begins)) {
            if (begins) last_turn[gpu] = ledger::turn_of(word);
            return ledger::gate_of(word);
        }
        if (begins) slot.inside = 0;
        const std::int64_t before = now_ns();
        ledger::wait_for_change(here->membership, here->places[gpu], word, kGateMs);
        waited_ns.fetch_add(now_ns() - before);
    }
    return ledger::Gate::open;
}

std::int64_t waited_at_gates_ns() { return waited_ns; }

std::int64_t ahead_ns(Gpu gpu) {
    const Seat* here = seat.load();
    if (here == nullptr || gpu < 0) return 0;
    return std::int64_t{here->place(static_cast<std::uint32_t>(gpu)).terms->ahead_us} * 1000;
}

std::optional<ledger::Place> work_place(Gpu gpu) {
    const Seat* here = seat.load();
    if (here == nullptr || gpu < 0) return std::nullopt;
    return here->place(static_cast<std::uint32_t>(gpu));
}

// The word may be of a seat that was left meanwhile: it stays mapped, and is not read.
InCall::InCall() {
    const Seat* here = seat.load();
    if (here == nullptr || here->gpu_count == 0) return;
    threads_ = &first_slot(*here).in_call;
    threads_->fetch_add(1, std::memory_order_relaxed);
}

InCall::~InCall() {
    if (threads_ == nullptr) return;
    threads_->fetch_sub(1, std::memory_order_relaxed);
    note_call();
}

void ring_arbiter(Gpu gpu) {
    const Seat* here = seat.load();
    if (here != nullptr && gpu >= 0) ledger::ring(here->membership, here->places[gpu]);
}

}  // namespace berth::vgpu::interposer
