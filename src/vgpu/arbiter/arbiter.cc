// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/arbiter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/sockets.h"

namespace berth::vgpu::arbiter {
namespace {

using base::ErrorCode;
using base::fail;
using base::Status;

constexpr std::int64_t kBurialEvery = 20'000'000;    // ns between looks at what is freed
constexpr std::int64_t kHelloWithin = 5'000'000'000;  // ns from connecting to Hello
constexpr std::size_t kOwnersMax = 64;

tl::unexpected<base::Error> too_large_for(const Order& order, const std::string& rotation) {
    return base::invalid("tenant \"" + order.name + "\" may have more memory than rotation \"" +
                         rotation + "\" has; lower its limit or enlarge the rotation");
}

}  // namespace

Status Arbiter::open() {
    using runtime::Openness;
    spare_ = spare_file();
    BERTH_TRY(folder, runtime::Folder::make(options_.directory, Openness::Passable));
    BERTH_TRY(tenants, folder.make_below("tenants", Openness::Passable));
    BERTH_TRY(lock, folder.open_file("lock", O_RDWR | O_CREAT, 0600));
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
        return fail(ErrorCode::Conflict, "another arbiter serves \"" + options_.directory +
                                             "\"; give orders to it, or stop it first");
    BERTH_TRY(control, runtime::listen_at(folder, "control", runtime::SocketKind::Packets, 0600));
    lock_ = std::move(lock);
    folder_ = std::move(folder);
    tenant_folder_ = std::move(tenants);
    control_ = std::move(control.socket);
    loop_.watch(control_.get(), [this] { on_control(); });
    return {};
}

void Arbiter::run(int stop) {
    bool stopped = false;
    const EventLoop::Id stopping = loop_.watch(stop, [&stopped] { stopped = true; });
    std::int64_t next = look();
    while (!stopped) {
        loop_.wait(next);
        next = look();
    }
    loop_.forget(stopping);
}

void Arbiter::on_control() {
    Peer peer = accept_peer(control_.get(), spare_);
    if (!peer.socket.is_open() || owners_.size() >= kOwnersMax || !is_owner(peer)) return;
    const std::uint64_t id = next_id_++;
    Owner& owner = owners_[id];
    owner.socket = std::move(peer.socket);
    owner.is_of_a_job = is_of_a_job(peer);
    owner.event = loop_.watch(owner.socket.get(), [this, id] { on_owner(id); });
}

bool Arbiter::is_of_a_job(const Peer& peer) const { return supervisor_above(peer.pid) != above_; }

void Arbiter::on_owner(std::uint64_t id) {
    Owner& owner = owners_[id];
    std::array<char, kOrderMax + 1> line{};
    const ssize_t size = receive(owner.socket.get(), line.data(), line.size());
    if (size < 0) return;
    if (size > 0) {
        const std::size_t kept = std::min(static_cast<std::size_t>(size), line.size());
        const std::string text = owner.is_of_a_job
                                     ? "error: a job gives no orders to the arbiter of its node"
                                     : answer({line.data(), kept});
        if (send_answer(owner.socket.get(), text)) return;
    }
    loop_.forget(owner.event);
    owners_.erase(id);
}

std::string Arbiter::answer(std::string_view line) {
    const auto order = read_order(line);
    if (!order) return "error: " + order.error().message;
    const auto done = carry_out(*order);
    return done ? "ok" + *done : "error: " + done.error().message;
}

base::Result<std::string> Arbiter::carry_out(const Order& order) {
    if (order.verb == Verb::rotation) {
        BERTH_TRY_VOID(make_rotation(order));
        return std::string();
    }
    const auto known = tenants_.find(order.name);
    if (order.verb == Verb::tenant && known == tenants_.end()) {
        BERTH_TRY_VOID(make_tenant(order));
        return " socket=" + options_.directory + "/tenants/" + order.name;
    }
    if (!order.name.empty() && known == tenants_.end())
        return fail(ErrorCode::NotFound, "no tenant \"" + order.name + "\"; status lists them");
    if (order.verb == Verb::drop) return drop_tenant(order.name).map([] { return std::string(); });
    if (order.verb == Verb::status) {
        std::string text;
        for (const auto& [name, tenant] : tenants_)
            if (order.name.empty() || name == order.name) text += tenant->describe();
        return text;
    }
    BERTH_TRY_VOID(change_tenant(*known->second, order));
    return " socket=" + options_.directory + "/tenants/" + order.name;
}

Status Arbiter::change_tenant(Tenant& tenant, const Order& order) {
    BERTH_TRY_VOID(fit_into_rotation(tenant, order));
    if (order.verb == Verb::narrow) return tenant.narrow(order);
    if (order.verb == Verb::tenant) rehome(tenant, order);
    BERTH_TRY_VOID(tenant.change(order));
    for (const GpuWish& gpu : order.gpus)
        if (gpu.capacity) loans_.set_memory(gpu.uuid, *gpu.capacity);
    gates_.change(tenant);
    return {};
}

// Its owner has its processes put on other GPUs.
void Arbiter::rehome(Tenant& tenant, const Order& order) {
    const bool is_known = std::ranges::all_of(order.gpus, [&](const GpuWish& gpu) {
        return std::ranges::find(tenant.gpus(), gpu.uuid) != tenant.gpus().end();
    });
    if (order.gpus.size() != tenant.gpus().size() || is_known) return;
    gates_.leave(tenant);
    tenant.rehome(order.gpus);
    if (tenant.members_here() > 0 && tenant.takes_turns()) gates_.enter(tenant, EventLoop::now());
}

Status Arbiter::make_tenant(const Order& order) {
    if (tenants_.size() >= kTenantsMax)
        return fail(ErrorCode::Exhausted, "there are 512 tenants already; drop one first");
    BERTH_TRY(fitted, fit_into_rotation(order));
    BERTH_TRY(tenant, Tenant::make(fitted));
    // The rights of the folder decide which processes may connect.
    BERTH_TRY(listener,
              runtime::listen_at(*tenant_folder_, order.name, runtime::SocketKind::Packets, 0666));
    tenant->listener = std::move(listener.socket);
    if (listener.was_left) {
        tenant->settles_at = EventLoop::now() + options_.settle_ns;
        tenant->settle(true);
    }
    for (const GpuWish& gpu : order.gpus)
        if (gpu.capacity) loans_.set_memory(gpu.uuid, *gpu.capacity);
    tenant->calls.last = EventLoop::now();
    const auto& made = tenants_[order.name] = std::move(tenant);
    hear(*made, kListener);
    return {};
}

Status Arbiter::make_rotation(const Order& order) {
    if (gates_.rotation(order.name) == nullptr && gates_.rotation_count() >= kRotationsMax)
        return fail(ErrorCode::Exhausted, "there are 1024 rotations already; use one of them");
    for (const auto& [name, tenant] : tenants_)
        if (tenant->rotation() == order.name && tenant->rotation_claim().limit > *order.memory)
            return base::invalid("tenant \"" + name + "\" of rotation \"" + order.name +
                                 "\" has a larger limit; lower that first");
    gates_.set_rotation(order.name, {*order.memory, order.policy.value_or(windows::Policy::fair)});
    return {};
}

// A tenant of a rotation has one GPU, and no more memory of it than the rotation.
base::Result<Order> Arbiter::fit_into_rotation(const Order& order) const {
    if (order.rotation.empty()) return order;
    const windows::RotationTerms* rotation = gates_.rotation(order.rotation);
    if (rotation == nullptr)
        return fail(ErrorCode::NotFound, "no rotation \"" + order.rotation +
                                             "\"; make it with: rotation NAME memory=BYTES");
    if (order.gpus.size() != 1)
        return base::invalid(
            "tenant \"" + order.name + "\" has " + std::to_string(order.gpus.size()) +
            " GPUs; in a rotation a tenant has one: two could wait for each other for ever");
    if (order.gpus[0].burst)
        return base::invalid("tenant \"" + order.name +
                             "\": in a rotation memory is lent by turns; give it no burst");
    Order fitted = order;
    if (!fitted.gpus[0].memory) fitted.gpus[0].memory = fitted.memory.value_or(rotation->memory);
    if (*fitted.gpus[0].memory > rotation->memory) return too_large_for(order, order.rotation);
    return fitted;
}

Status Arbiter::fit_into_rotation(const Tenant& tenant, const Order& order) const {
    if (tenant.rotation().empty()) return {};
    std::uint64_t most = order.memory.value_or(0);
    for (const GpuWish& gpu : order.gpus) most = std::max(most, gpu.memory.value_or(0));
    if (most > gates_.rotation(tenant.rotation())->memory)
        return too_large_for(order, tenant.rotation());
    return {};
}

Status Arbiter::drop_tenant(const std::string& name) {
    Tenant& tenant = *tenants_.at(name);
    std::vector<std::uint64_t> silent;
    for (const auto& [id, member] : tenant.members)
        if (member.state == Member::State::guest) silent.push_back(id);
    for (const std::uint64_t id : silent) remove(tenant, id);
    if (!tenant.members.empty())
        return fail(ErrorCode::Conflict,
                    "tenant \"" + name + "\" has " + std::to_string(tenant.members.size()) +
                        " processes or their memory is not yet free; end them and try again");
    loop_.forget(tenant.hearing.listening);
    tenant_folder_->remove_file(name);
    if (tenant.whereabouts.supervisor.is_open()) loop_.forget(tenant.whereabouts.event);
    gates_.leave(tenant);
    tenants_.erase(name);
    return {};
}

std::int64_t Arbiter::look() {
    const std::int64_t now = EventLoop::now();
    std::int64_t next = windows::Windows::kNever;
    std::vector<Tenant*> settled;
    for (auto& [name, tenant] : tenants_) {
        next = std::min({next, hear_again(*tenant, now), bury(*tenant, now)});
        if (tenant->settles_at == 0) continue;
        if (now < tenant->settles_at) {
            next = std::min(next, tenant->settles_at);
        } else {
            tenant->settles_at = 0;
            settled.push_back(tenant.get());
        }
    }
    // No tenant grows before its limit leaves others what they have come back with.
    next = std::min(next, loans_.look(tenants_, gates_, now));
    for (Tenant* tenant : settled) tenant->settle(false);
    next = std::min(next, look_for_silence(tenants_, now));
    next = std::min(next, residue_.look(tenants_, memory_, now));
    return std::min(next, gates_.look(now));
}

// Frees the slots of the dead whose memory is free, and turns away who never says Hello.
std::int64_t Arbiter::bury(Tenant& tenant, std::int64_t now) {
    std::int64_t next = windows::Windows::kNever;
    std::vector<std::uint64_t> done;
    for (const auto& [id, member] : tenant.members) {
        const bool dead = member.state == Member::State::dead;
        if (!dead && member.state != Member::State::guest) continue;
        if (dead ? is_free(tenant, member, now) : now - member.since >= kHelloWithin)
            done.push_back(id);
        else
            next = std::min(next, dead ? now + kBurialEvery : member.since + kHelloWithin);
    }
    for (const std::uint64_t id : done) remove(tenant, id);
    return next;
}

bool Arbiter::is_free(const Tenant& tenant, const Member& member, std::int64_t now) const {
    for (std::uint32_t gpu = 0; gpu < tenant.gpus().size(); ++gpu) {
        if (!tenant.has_charge(member.slot, gpu)) continue;
        const auto held = memory_.is_held(tenant.gpus()[gpu], member.peer.pid);
        if (held.value_or(now - member.since < options_.free_after_ns)) return false;
    }
    return true;
}

}  // namespace berth::vgpu::arbiter
