// SPDX-License-Identifier: Apache-2.0
//
// What does the arbiter keep of one tenant? Its terms, the two segments that its processes share,
// and who sits on which slot. Times are monotonic ns.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "vgpu/arbiter/talk/allowance.h"
#include "vgpu/arbiter/talk/order.h"
#include "vgpu/arbiter/talk/peer.h"
#include "vgpu/arbiter/tenants/profile.h"
#include "vgpu/arbiter/tenants/time_used.h"
#include "vgpu/ledger/charge.h"
#include "vgpu/ledger/stay.h"
#include "vgpu/lending/lend.h"
#include "vgpu/windows/rotation.h"

namespace berth::vgpu::arbiter {

// One process of a tenant, from its connection to the freeing of its last byte.
struct Member {
    enum class State {
        guest,    // connected, has not said Hello: no slot yet
        here,     // on its slot
        hung_up,  // the connection is closed and the process lives: it may still hold memory
        dead,     // the GPU may still hold its memory
    };
    State state = State::guest;
    Peer peer;
    std::uint32_t slot = 0;
    std::int64_t since = 0;             // when it came, or died
    std::uint64_t heard = 0;  // what the loop watches for it, of its socket
    std::uint64_t life = 0;   // and of its process
};

// Whether a tenant is on its GPUs, and who takes it off.
struct Whereabouts {
    lending::Where where = lending::Where::here;
    std::int64_t since = 0;
    int times = 0;             // that it was ordered off
    bool is_parked = false;    // away, and its processes run
    std::uint64_t bytes = 0;   // on each GPU when it is back, where no process is here to tell
    Descriptor supervisor;     // not open: the tenant cannot leave its GPUs
    pid_t supervisor_pid = 0;  // 0: none is there
    std::uint64_t event = 0;

    void move_to(lending::Where to, std::int64_t now) {
        if (where != to) since = now;
        where = to;
    }
};

// What is known of a tenant's calls to its GPUs, where that is asked for.
struct Calls {
    std::int64_t silence_reported_after = 0;  // ns without a call; 0: never
    std::int64_t last = 0;                // seen by then
    std::int64_t reported = 0;            // when its silence was reported last
    bool is_any_since = false;            // was seen since then
    bool is_wake_reported = false;
};

// What the arbiter hears of a tenant, and whom it does not for a while because it heard too much.
struct Hearing {
    Allowance rings{100'000, 200};
    Allowance guests{200'000, 512};
    std::vector<std::uint64_t> resting;  // members; the listener: kListener
    std::int64_t until = 0;
    std::uint64_t listening = 0;  // what the loop watches for the listener
};
inline constexpr std::uint64_t kListener = 0;  // no member has that number

class Tenant {
  public:
    // Errors: Unavailable when the segments cannot be made.
    static base::Result<std::unique_ptr<Tenant>> make(const Order& order);
    Tenant(const Tenant&) = delete;
    Tenant& operator=(const Tenant&) = delete;
    ~Tenant();

    // Errors: Invalid for other GPUs than it has; then nothing has changed.
    base::Status change(const Order& order);
    // Lowers its limits of memory to those of the order, where they are lower. Errors: Conflict
    // when more is in use, and then nothing has changed.
    base::Status narrow(const Order& order);
    // Until then its memory does not grow: processes from before a restart are still coming back.
    void settle(bool settling);

    // Takes a free slot, the lowest; kSlotsMax when there is none.
    std::uint32_t take_slot(pid_t pid);
    // The process is no more: whatever it had there is gone.
    void free_slot(std::uint32_t slot);
    // The process will say nothing more, but may hold memory.
    void silence(std::uint32_t slot);

    // What its processes want and did on one GPU since the last look.
    windows::Sight look(std::uint32_t gpu, std::int64_t now);
    void set_gate(std::uint32_t gpu, windows::Right right);
    // Work in ns that each of its processes may launch ahead.
    void set_ahead(std::uint32_t gpu, std::int64_t ns);
    // Of a tenant in a rotation.
    windows::RotationSight look_in_turn(std::uint32_t gpu, std::int64_t now);
    // The same, but who is alone may be measured for a while. Returns when that may change.
    std::int64_t let(std::uint32_t gpu, windows::Right right, std::int64_t now);

    // The same in a rotation; nothing is granted that is not seen to be taken back.
    std::int64_t let_in_turn(std::uint32_t gpu, const windows::Turn& turn, std::int64_t now);

    bool takes_turns() const {
        return whereabouts.where == lending::Where::here ||
               whereabouts.where == lending::Where::returning;
    }
    bool is_limited(std::uint32_t gpu) const { return limit(gpu) != ledger::kNoLimit; }
    // Its processes come to be on other GPUs, as many, each in the place of the one before.
    void rehome(const std::vector<GpuWish>& gpus);
    // What it holds of a GPU's memory and waits for, and what comes of that.
    lending::Tenant look_at_loan(std::uint32_t gpu) const;
    void grant(std::uint32_t gpu, const lending::Tenant& seen, const lending::Decision& decision);
    // False when there is no supervisor to do it.
    bool order_move(ledger::Move move, std::int64_t idle_ns = 0) const;
    // Whether any of its processes made a call since that was forgotten, or is in one that waits.
    bool has_called() const;
    void forget_calls();
    // A new process waits while the tenant is off its GPUs.
    void set_off(bool is_off);

    // Bytes that its processes are charged, and what they hold beside that.
    std::uint64_t counted(std::uint32_t gpu) const;
    // Of those that joined it. Whether it is another number than before.
    bool set_uncounted(std::uint32_t gpu, std::uint64_t bytes);
    bool has_charge(std::uint32_t slot, std::uint32_t gpu) const;
    std::size_t members_here() const;
    // What it is believed to hold. Its processes may pass its limit by their contexts; what they
    // write beyond that, and the management library has not seen, must not take others' memory.
    std::uint64_t believed_charge(std::uint32_t gpu) const;
    void set_seen_held(std::uint32_t gpu, std::uint64_t bytes) { seen_[gpu].held = bytes; }
    // A line for each GPU, as words of key=value.
    std::string describe();

    const std::string& name() const { return name_; }
    const windows::Claim& claim() const { return claim_; }
    // Of a tenant in a rotation, which has one GPU; an empty name: it is in none.
    const std::string& rotation() const { return rotation_; }
    const windows::RotationClaim& rotation_claim() const { return rotation_claim_; }
    const std::vector<std::string>& gpus() const { return gpus_; }
    std::uint32_t uid() const { return uid_; }
    bool is_of_user(std::uint32_t uid) const { return uid == uid_ || uid == 0; }
    std::size_t strangers() const;  // connections of other users
    int account_fd() const { return account_fd_; }
    int terms_fd() const { return terms_fd_; }

    std::map<std::uint64_t, Member> members;  // by a number that never comes again
    std::int64_t settles_at = 0;  // 0: settled
    Whereabouts whereabouts;
    Calls calls;
    Descriptor listener;
    Hearing hearing;

  private:
    Tenant() = default;
    void look_at_iterations(std::uint32_t gpu);
    bool is_waiting(std::uint32_t gpu) const;  // at a gate
    bool put_uncounted(std::uint32_t gpu);
    void put_gate(std::uint32_t gpu, ledger::Gate gate, bool is_new_turn);
    std::uint64_t limit(std::uint32_t gpu) const { return terms_->gpus[gpu].shown_bytes; }
    void set_memory(std::uint32_t gpu, std::uint64_t request, std::uint64_t burst);
    ledger::Place place(std::uint32_t gpu) const {
        return {&account_->lines[gpu], &terms_->gpus[gpu], 0};
    }

    std::string name_;
    std::vector<std::string> gpus_;
    std::uint32_t uid_ = 0;
    windows::Claim claim_;
    std::string rotation_;
    windows::RotationClaim rotation_claim_;
    int account_fd_ = -1;
    int terms_fd_ = -1;
    ledger::Account* account_ = nullptr;
    ledger::Terms* terms_ = nullptr;
    std::vector<bool> taken_ = std::vector<bool>(ledger::kSlotsMax);
    struct Seen {
        TimeUsed time;
        std::uint32_t grant = 0;  // the last one in its rotation
        std::uint64_t held = 0;  // bytes, by the management library
        std::uint64_t uncounted = 0;  // of that, what nothing of ours counts
        std::uint64_t escaped = 0;  // bytes of processes that did not join, as the owner says
        Profiler profiler;
        Profiler::Phase phase = Profiler::Phase::alone;  // since the last look
    };
    std::vector<Seen> seen_;  // by GPU
};

}  // namespace berth::vgpu::arbiter
