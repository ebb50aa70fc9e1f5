// SPDX-License-Identifier: Apache-2.0
//
// How much of a GPU's memory may each of its tenants hold now? Each was promised its request, and
// may borrow up to its burst what the others do not use. An owner, who stays within its request,
// gets it back when it allocates: unused room of others first, which costs nothing; then borrowers
// are ordered off the GPU, to keep what they hold elsewhere and come back when there is room.
//
// Safety: what all may hold together is never above the memory. A tenant may hold its limit or what
// it is charged, whichever is more; the caller reads the charge after it has set the limit, so a
// limit that was lowered counts from the next look on. That holds while no tenant is charged past
// its limit, as contexts are.
// Guarantee: while the requests fit together, an owner that waits has what it asked for once those
// who were ordered off have left.
//
// In this order: owners; tenants that are off, the first that left first; borrowers, only while no
// tenant is off. A tenant that is off comes back with all it held. Off within its request, it is an
// owner; beyond, it waits until owners leave it the room, for ever if they do not. Other borrowers
// leave it theirs: who borrowed for a turn is ordered off for who has been off as long, by who left
// first. Who is ordered off is the borrower with the least memory that suffices, else the one with
// most. Pure; a look costs the square of the tenants of a GPU.
#pragma once

#include <cstdint>
#include <vector>

namespace berth::vgpu::lending {

enum class Where {
    here,
    leaving,  // ordered off; what it holds is still on the GPU
    off,  // waits to come back
    away,  // off, and not to come back until its owner says so
    returning,  // its room is kept
};

struct Tenant {
    // Bytes.
    std::uint64_t request = 0;
    std::uint64_t burst = 0;  // at least its request
    std::uint64_t limit = 0;  // that it has now
    std::uint64_t charged = 0;  // as read since; off the GPU: what it comes back with
    std::uint64_t asked = 0;  // more, that its processes wait for
    Where where = Where::here;
    bool can_leave = false;  // a supervisor takes it off when it is ordered
    std::int64_t since = 0;  // ns: when it came to be where it is
    int times = 0;  // that it was ordered off
};

struct Decision {
    std::uint64_t limit = 0;
    Where where = Where::here;  // here -> leaving and off -> returning, else as it was
    bool is_final = false;  // about what it asked for: it has it, or cannot have it now
};

struct Decisions {
    std::vector<Decision> of;  // each tenant
    bool again = false;  // limits were lowered: look at once
};

// A borrower stays off for this time at least, and twice as long each time that it is ordered off
// again: an owner that grows step by step must not chase it at each step.
inline constexpr std::int64_t kRest = 1'000'000'000;
inline constexpr std::int64_t kRestMax = 64'000'000'000;
// Of a borrower, while others wait for what it has. Long against a copy there and back.
inline constexpr std::int64_t kTurn = 60'000'000'000;

// `memory`: bytes that these tenants have together.
Decisions lend(std::uint64_t memory, const std::vector<Tenant>& tenants, std::int64_t now);

}  // namespace berth::vgpu::lending
