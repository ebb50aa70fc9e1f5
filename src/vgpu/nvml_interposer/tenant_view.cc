// SPDX-License-Identifier: Apache-2.0
#include "vgpu/nvml_interposer/tenant_view.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "vgpu/ledger/admission.h"

namespace berth::vgpu::nvml_interposer {
namespace {

constexpr int kJoinMs = 1000;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
ledger::Membership membership;
pid_t joined_as = 0;  // a forked child is not its parent

class Locked {
  public:
    Locked() { ::pthread_mutex_lock(&lock); }
    ~Locked() { ::pthread_mutex_unlock(&lock); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
};

bool has_ended(int socket) {
    pollfd question{socket, POLLRDHUP, 0};
    return ::poll(&question, 1, 0) == 1;
}

// The caller holds the lock.
void look_for_arbiter() {
    if (membership.terms != nullptr && joined_as == ::getpid() && !has_ended(membership.socket))
        return;
    const char* socket = ::getenv("BERTH_VGPU_SOCKET");
    if (socket == nullptr || socket[0] == 0) return;
    ledger::Membership next;
    ledger::Reason reason;
    if (!ledger::join(socket, kJoinMs, next, reason)) return;  // what was seen last holds
    ledger::leave(membership);
    membership = next;
    joined_as = ::getpid();
}

const char* without_kind(const char* uuid) {
    const char* dash = ::strchr(uuid, '-');
    return dash == nullptr ? uuid : dash + 1;
}

bool find(const char* uuid, ledger::Place& place) {
    look_for_arbiter();
    for (std::uint32_t gpu = 0; membership.terms != nullptr && gpu < membership.terms->gpu_count;
         ++gpu) {
        if (::strcmp(without_kind(membership.terms->gpus[gpu].uuid), without_kind(uuid)) != 0)
            continue;
        place = membership.place(gpu);
        return true;
    }
    return false;
}

}  // namespace

void join_tenant() {
    const Locked locked;
    look_for_arbiter();
}

bool share_of(const char* uuid, Share& share) {
    const Locked locked;
    ledger::Place place;
    if (!find(uuid, place)) return false;
    share = {place.terms->shown_bytes, ledger::charged(place)};
    return true;
}

bool is_member(const char* uuid, std::uint32_t pid, std::uint64_t& bytes) {
    const Locked locked;
    ledger::Place place;
    bytes = 0;
    if (!find(uuid, place)) return false;
    bool found = false;
    const std::uint32_t end = std::min(place.terms->slots_end.load(), ledger::kSlotsMax);
    for (std::uint32_t slot = 0; slot < end; ++slot) {
        const ledger::Slot& words = place.line->slots[slot];
        if (words.pid != pid) continue;
        found = true;
        bytes += words.charged;
    }
    return found;
}

}  // namespace berth::vgpu::nvml_interposer
