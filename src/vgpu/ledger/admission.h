// SPDX-License-Identifier: Apache-2.0
//
// How does a process come to its slot? It connects to the socket of its tenant; a process that may
// reach that socket belongs to the tenant. It says Hello, the arbiter looks at who it is
// (SO_PEERCRED) and answers with Welcome and two segments, account and terms. The connection stays
// open while the process lives: on it the process rings when it waits at a gate, and its end tells
// either side that the other has gone. Messages are SEQPACKET packets of exactly these structs.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/ledger/account.h"
#include "vgpu/ledger/charge.h"
#include "vgpu/ledger/terms.h"

namespace berth::vgpu::ledger {

inline constexpr std::uint32_t kAdmissionVersion = 2;
inline constexpr std::uint32_t kReasonMax = 200;

inline constexpr std::uint32_t kRoleProcess = 0;
inline constexpr std::uint32_t kRoleSupervisor = 1;  // has no slot and no Welcome, see stay.h

struct Hello {
    std::uint64_t mark = kTermsMark;
    std::uint32_t version = kAdmissionVersion;
    std::uint32_t role = kRoleProcess;
};

struct Welcome {
    std::uint64_t mark = kTermsMark;
    std::uint32_t slot = 0;
    std::uint32_t refused = 0;     // 1: no segments came along and `reason` says why
    char reason[kReasonMax] = {};  // NUL-terminated
};

// The process waits at the gate of this GPU, or has just begun to work on it.
struct Ring {
    std::uint32_t gpu = 0;
};

// A process in its tenant.
struct Membership {
    int socket = -1;
    Account* account = nullptr;
    const Terms* terms = nullptr;
    std::uint32_t slot = 0;

    Place place(std::uint32_t gpu) const { return {&account->lines[gpu], &terms->gpus[gpu], slot}; }
};

// Why a process has no seat, for people; cut where it is too long.
struct Reason {
    char text[512] = {};
};

// Waits at most timeout_ms for the arbiter's answer. On false `reason` says what to do about it;
// an arbiter that is only starting again is worth another try.
bool join(std::string_view socket_path, int timeout_ms, Membership& membership, Reason& reason);

// Closes and unmaps. What was charged stays charged until the arbiter sees that it is free.
void leave(Membership& membership);

// False when the arbiter has gone.
bool ring(const Membership& membership, std::uint32_t gpu);

}  // namespace berth::vgpu::ledger
