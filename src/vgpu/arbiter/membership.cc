// SPDX-License-Identifier: Apache-2.0
//
// The processes of a tenant: how they come, ring, hang up and die.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "vgpu/arbiter/arbiter.h"
#include "vgpu/ledger/admission.h"

namespace berth::vgpu::arbiter {
namespace {

// Who connects without end must not keep the arbiter from everybody else: the rest wakes it again.
constexpr int kGuestsAtOnce = 64;
constexpr std::int64_t kRest = 1'000'000;  // ns, of who is heard too often

}  // namespace

void Arbiter::hear(Tenant& tenant, std::uint64_t id) {
    if (id == kListener) {
        const int listener = tenant.listener.get();
        tenant.hearing.listening = loop_.watch(listener, [this, &tenant] { on_guest(tenant); });
        return;
    }
    const auto found = tenant.members.find(id);
    if (found == tenant.members.end() || !found->second.peer.socket.is_open()) return;
    const int socket = found->second.peer.socket.get();
    found->second.heard = loop_.watch(socket, [this, &tenant, id] { on_message(tenant, id); });
}

void Arbiter::rest(Tenant& tenant, std::uint64_t id) {
    const bool is_listener = id == kListener;
    loop_.forget(is_listener ? tenant.hearing.listening : tenant.members.at(id).heard);
    if (tenant.hearing.resting.empty()) tenant.hearing.until = EventLoop::now() + kRest;
    tenant.hearing.resting.push_back(id);
}

std::int64_t Arbiter::hear_again(Tenant& tenant, std::int64_t now) {
    if (tenant.hearing.resting.empty()) return windows::Windows::kNever;
    if (now < tenant.hearing.until) return tenant.hearing.until;
    for (const std::uint64_t id : std::exchange(tenant.hearing.resting, {})) hear(tenant, id);
    return windows::Windows::kNever;
}

void Arbiter::on_guest(Tenant& tenant) {
    const std::int64_t now = EventLoop::now();
    for (int count = 0; count < kGuestsAtOnce; ++count) {
        if (!tenant.hearing.guests.take(now)) return rest(tenant, kListener);
        Peer peer = accept_peer(tenant.listener.get(), spare_);
        if (!peer.socket.is_open()) return;
        const bool is_stranger = !tenant.is_of_user(peer.uid);
        if (tenant.members.size() >= kGuestsMax) continue;
        if (is_stranger && tenant.strangers() >= kStrangersMax) continue;
        const std::uint64_t id = next_id_++;
        Member& member = tenant.members[id];
        member.peer = std::move(peer);
        member.since = now;
        hear(tenant, id);
        member.life =
            loop_.watch(member.peer.process.get(), [this, &tenant, id] { ended(tenant, id); });
    }
}

void Arbiter::on_message(Tenant& tenant, std::uint64_t id) {
    Member& member = tenant.members.at(id);
    std::array<char, sizeof(ledger::Hello) + sizeof(ledger::Ring)> bytes{};
    const ssize_t size = receive(member.peer.socket.get(), bytes.data(), bytes.size());
    if (size < 0) return;
    if (size == 0) return hung_up(tenant, id);
    if (member.state == Member::State::guest) {
        ledger::Hello hello{};
        std::memcpy(&hello, bytes.data(), sizeof hello);
        if (size != sizeof hello || hello.mark != ledger::kTermsMark ||
            hello.version != ledger::kAdmissionVersion)
            return refuse(tenant, id,
                          "the arbiter speaks version 2 of the admission; "
                          "use the interposer that came with it");
        if (!tenant.is_of_user(member.peer.uid))
            return refuse(tenant, id,
                          "tenant \"" + tenant.name() + "\" belongs to user " +
                              std::to_string(tenant.uid()) + ", this process to " +
                              std::to_string(member.peer.uid) + "; its owner sets uid=");
        const pid_t above = supervisor_above(member.peer.pid);
        const bool is_of_a_job = above != above_;
        if (hello.role == ledger::kRoleSupervisor)
            return is_owner(member.peer) && !is_of_a_job ? attend(tenant, id) : remove(tenant, id);
        const pid_t own = tenant.whereabouts.supervisor_pid;
        if (is_of_a_job && own != 0 && above != own)
            return refuse(tenant, id, "tenant \"" + tenant.name() + "\" is another job");
        return admit(tenant, member);
    }
    // A ring says only that it is time to look, whatever else is in it: run() looks after it.
    if (!tenant.hearing.rings.take(EventLoop::now())) rest(tenant, id);
}

void Arbiter::admit(Tenant& tenant, Member& member) {
    // Its process may be here already with a closed connection: it has executed a new program.
    for (auto& [id, other] : tenant.members) {
        if (other.state != Member::State::hung_up || other.peer.pid != member.peer.pid) continue;
        other.state = Member::State::dead;
        other.peer.pid = 0;  // what is listed under it from now on belongs to the new program
        other.since = EventLoop::now();
    }
    ledger::Welcome welcome;
    welcome.slot = tenant.take_slot(member.peer.pid);
    if (welcome.slot == ledger::kSlotsMax) {
        welcome.refused = 1;
        const std::string reason =
            "tenant \"" + tenant.name() + "\" has 512 processes, no more fit";
        std::memcpy(welcome.reason, reason.c_str(),
                    std::min<std::size_t>(reason.size(), ledger::kReasonMax - 1));
        send_welcome(member.peer.socket.get(), welcome, -1, -1);
        return;  // its hanging up ends it, or the time for a Hello
    }
    member.slot = welcome.slot;
    member.state = Member::State::here;
    residue_.stir(EventLoop::now());
    if (tenant.takes_turns()) gates_.enter(tenant, EventLoop::now());
    gates_.look(EventLoop::now());
    send_welcome(member.peer.socket.get(), welcome, tenant.account_fd(), tenant.terms_fd());
}

// The newest supervisor is believed: an older one has lost its processes to it, or is a mistake.
void Arbiter::attend(Tenant& tenant, std::uint64_t id) {
    Member& member = tenant.members.at(id);
    loop_.forget(member.heard);
    loop_.forget(member.life);
    Whereabouts& whereabouts = tenant.whereabouts;
    if (whereabouts.supervisor.is_open()) loop_.forget(whereabouts.event);
    whereabouts.supervisor = std::move(member.peer.socket);
    whereabouts.supervisor_pid = member.peer.pid;
    tenant.members.erase(id);
    whereabouts.event =
        loop_.watch(whereabouts.supervisor.get(), [this, &tenant] { on_supervisor(tenant); });
}

void Arbiter::on_supervisor(Tenant& tenant) {
    using lending::Where;
    Whereabouts& whereabouts = tenant.whereabouts;
    ledger::StayReport report;
    const ssize_t size = receive(whereabouts.supervisor.get(), &report, sizeof report);
    if (size < 0) return;
    const std::int64_t now = EventLoop::now();
    if (size != sizeof report) {
        loop_.forget(whereabouts.event);
        whereabouts.supervisor.reset();
        whereabouts.supervisor_pid = 0;
        if (whereabouts.where == Where::leaving) whereabouts.move_to(Where::here, now);
        return;
    }
    whereabouts.bytes = std::min(report.bytes, ledger::kNoLimit);
    whereabouts.is_parked = false;
    switch (static_cast<ledger::Stay>(report.stay)) {
        case ledger::Stay::here:
            if (whereabouts.where != Where::here) tenant.calls.last = now;
            residue_.stir(now);
            whereabouts.move_to(Where::here, now);
            break;
        case ledger::Stay::off: whereabouts.move_to(Where::off, now); break;
        case ledger::Stay::away: whereabouts.move_to(Where::away, now); break;
        case ledger::Stay::leaving: whereabouts.move_to(Where::leaving, now); break;
        case ledger::Stay::parked:
            whereabouts.move_to(Where::away, now);
            whereabouts.is_parked = true;
            tenant.calls.is_wake_reported = false;
            break;
    }
    tenant.set_off(!tenant.takes_turns());
    if (!tenant.takes_turns()) gates_.leave(tenant);
    if (tenant.takes_turns() && tenant.members_here() > 0) gates_.enter(tenant, now);
}

void Arbiter::refuse(Tenant& tenant, std::uint64_t id, const std::string& reason) {
    ledger::Welcome welcome;
    welcome.refused = 1;
    std::memcpy(welcome.reason, reason.c_str(),
                std::min<std::size_t>(reason.size(), ledger::kReasonMax - 1));
    send_welcome(tenant.members.at(id).peer.socket.get(), welcome, -1, -1);
    remove(tenant, id);
}

void Arbiter::hung_up(Tenant& tenant, std::uint64_t id) {
    Member& member = tenant.members.at(id);
    if (member.state == Member::State::guest) return remove(tenant, id);
    if (has_ended(member.peer.process)) return ended(tenant, id);
    loop_.forget(member.heard);
    member.peer.socket.reset();
    member.state = Member::State::hung_up;
    tenant.silence(member.slot);
    after_leaving(tenant);
}

void Arbiter::ended(Tenant& tenant, std::uint64_t id) {
    Member& member = tenant.members.at(id);
    if (member.state == Member::State::guest) return remove(tenant, id);
    loop_.forget(member.heard);
    loop_.forget(member.life);
    member.peer.socket.reset();
    member.peer.process.reset();
    if (member.state != Member::State::dead) member.since = EventLoop::now();
    member.state = Member::State::dead;
    tenant.silence(member.slot);
    after_leaving(tenant);
}

void Arbiter::after_leaving(Tenant& tenant) {
    if (tenant.members_here() == 0) gates_.leave(tenant);
}

void Arbiter::remove(Tenant& tenant, std::uint64_t id) {
    Member& member = tenant.members.at(id);
    loop_.forget(member.heard);
    loop_.forget(member.life);
    if (member.state != Member::State::guest) tenant.free_slot(member.slot);
    tenant.members.erase(id);
    residue_.stir(EventLoop::now());
    if (!tenant.members.empty()) return;
    for (std::uint32_t gpu = 0; gpu < tenant.gpus().size(); ++gpu) tenant.set_uncounted(gpu, 0);
}

}  // namespace berth::vgpu::arbiter
