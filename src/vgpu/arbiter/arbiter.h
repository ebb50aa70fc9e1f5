// SPDX-License-Identifier: Apache-2.0
//
// Who shares the GPUs of this node, and on which terms? The arbiter decides whose turn it is on a
// shared GPU. It listens in its directory: at
// `control` for its owner's orders (order.h), at `tenants/NAME` for the processes of a tenant. It
// is the only writer of terms and gates, and it alone clears the slots of the dead.
//
// It believes no process: who it is says the kernel, every message has its one size, every number
// is bounded. It may be killed and started again: processes come back by themselves and bring
// what they hold; the owner gives the tenants once more.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "runtime/folder.h"
#include "vgpu/arbiter/gpus/gates.h"
#include "vgpu/arbiter/gpus/gpu_memory.h"
#include "vgpu/arbiter/gpus/loans.h"
#include "vgpu/arbiter/gpus/residue.h"
#include "vgpu/arbiter/gpus/silence.h"
#include "vgpu/arbiter/talk/descent.h"
#include "vgpu/arbiter/talk/event_loop.h"
#include "vgpu/arbiter/tenants/tenant.h"

namespace berth::vgpu::arbiter {

inline constexpr std::size_t kTenantsMax = 512;
inline constexpr std::size_t kRotationsMax = 1024;
inline constexpr std::size_t kGuestsMax = 1024;  // of a tenant: connections and the not yet freed
inline constexpr std::size_t kStrangersMax = 16;  // of those, other users' that get a refusal

struct Options {
    std::string directory;
    std::string nvml;  // the management library's path; empty: wait free_after instead
    std::int64_t free_after_ns = 2'000'000'000;  // a dead process's memory is free by then
    std::int64_t settle_ns = 1'000'000'000;  // after a restart processes have come back by then
};

class Arbiter {
  public:
    explicit Arbiter(const Options& options) : options_(options), memory_(options.nvml) {}

    // Errors: Conflict when another arbiter serves the directory, Forbidden when other users can
    // change it, Unavailable with the reason.
    base::Status open();
    // Serves until `stop` is readable, and then what had come by then. May be called again.
    void run(int stop);

  private:
    std::string answer(std::string_view line);
    base::Result<std::string> carry_out(const Order& order);
    base::Status make_tenant(const Order& order);
    base::Status make_rotation(const Order& order);
    base::Result<Order> fit_into_rotation(const Order& order) const;
    base::Status fit_into_rotation(const Tenant& tenant, const Order& order) const;
    base::Status change_tenant(Tenant& tenant, const Order& order);
    void rehome(Tenant& tenant, const Order& order);
    base::Status drop_tenant(const std::string& name);
    void on_control();
    bool is_of_a_job(const Peer& peer) const;
    void on_owner(std::uint64_t id);

    // Listens to who connects, or to this member.
    void hear(Tenant& tenant, std::uint64_t id);
    void rest(Tenant& tenant, std::uint64_t id);
    // When the arbiter reads from the next resting connection again.
    std::int64_t hear_again(Tenant& tenant, std::int64_t now);
    void on_guest(Tenant& tenant);
    void on_message(Tenant& tenant, std::uint64_t id);
    void admit(Tenant& tenant, Member& member);
    void attend(Tenant& tenant, std::uint64_t id);
    void on_supervisor(Tenant& tenant);
    void refuse(Tenant& tenant, std::uint64_t id, const std::string& reason);
    void hung_up(Tenant& tenant, std::uint64_t id);
    void ended(Tenant& tenant, std::uint64_t id);
    void remove(Tenant& tenant, std::uint64_t id);
    void after_leaving(Tenant& tenant);

    // When something is due next.
    std::int64_t look();
    std::int64_t bury(Tenant& tenant, std::int64_t now);
    bool is_free(const Tenant& tenant, const Member& member, std::int64_t now) const;

    Options options_;
    std::optional<runtime::Folder> folder_;
    std::optional<runtime::Folder> tenant_folder_;
    pid_t above_ = supervisor_above(::getpid());  // where the node itself is run by a job
    GpuMemory memory_;
    EventLoop loop_;
    Gates gates_;
    Loans loans_;
    Residue residue_;
    Descriptor lock_;
    Descriptor spare_;
    Descriptor control_;
    struct Owner {
        Descriptor socket;
        EventLoop::Id event = 0;
        bool is_of_a_job = false;  // and so no owner
    };
    std::map<std::uint64_t, Owner> owners_;
    Tenants tenants_;
    std::uint64_t next_id_ = 1;
};

}  // namespace berth::vgpu::arbiter
