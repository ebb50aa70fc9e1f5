// SPDX-License-Identifier: Apache-2.0
//
// Is a tenant on its GPUs, and who takes it off? Its supervisor, which says Hello at the tenant's
// socket as such and keeps the connection open: it tells where the tenant is, and the arbiter tells
// it when the tenant has to leave and when there is room to come back, and that its processes make
// no calls, or make one again. Messages are SEQPACKET packets of exactly these structs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace berth::vgpu::ledger {

// What a supervisor calls itself (PR_SET_NAME), by which the arbiter knows who is below one. Of the
// server's user, as jobs may be too: what they cannot change is who is above them.
inline constexpr char kSupervisorName[] = "berth-attempt";

enum class Stay : std::uint32_t {
    here = 0,
    off = 1,  // no memory on its GPUs; it waits for come_back
    away = 2,  // the same, but it is not to come back yet
    leaving = 3,  // about to be off: it needs no turns any more
    parked = 4,  // away, and its processes run: their next call is reported
};

// From the supervisor, at first and with every change.
struct StayReport {
    std::uint32_t stay = 0;
    std::uint32_t reserved = 0;
    std::uint64_t bytes = 0;  // that it comes back with on each GPU, where the arbiter cannot know
};

enum class Move : std::uint32_t {
    leave = 1,  // keep what is on the GPUs elsewhere, or end; and say so
    come_back = 2,  // the room is kept until it says that it is here
    idle = 3,  // no call for as long as its terms say, or for that long once more
    wake = 4,  // parked, it makes a call
};

// From the arbiter.
struct MoveOrder {
    Move move = Move::leave;
    std::uint32_t idle_ms = 0;  // without a call; of idle
};

// A socket for the supervisor of this tenant, which does not block; -1 when no arbiter answers.
int connect_supervisor(std::string_view socket_path);
// False when the arbiter has gone.
bool report_stay(int socket, const StayReport& report);
// The next order. Nothing when there is none; `has_gone` is set when none will come any more.
std::optional<MoveOrder> next_move(int socket, bool& has_gone);

}  // namespace berth::vgpu::ledger
