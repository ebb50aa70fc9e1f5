// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/process/joining.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <string_view>

#include "vgpu/interposer/complain.h"
#include "vgpu/interposer/driver/calls.h"
#include "vgpu/interposer/process/blocks.h"
#include "vgpu/interposer/process/devices.h"
#include "vgpu/interposer/process/iterating.h"
#include "vgpu/interposer/process/seat.h"
#include "vgpu/interposer/process/tenancy.h"

namespace berth::vgpu::interposer {
namespace {

constexpr int kJoinMs = 5000;
constexpr int kLookMs = 100;  // at whether the tenant is back

pthread_mutex_t entering = PTHREAD_MUTEX_INITIALIZER;

// In the child: the slot is the parent's, and no thread of ours lives here.
void forget_parent() {
    forget_seat();
    entering = PTHREAD_MUTEX_INITIALIZER;
    forget_iterations();
    forget_all_blocks();
    forget_devices();
}

// A new process of a tenant that is off its GPUs: they are others' now. That it is here brings it
// back.
void wait_while_off() {
    for (const Seat* here = current_seat(); here != nullptr; here = current_seat()) {
        if (here->membership.terms->is_off == 0) return;
        note_call();
        ledger::wait_while_off(here->membership, kLookMs);
    }
}

// Only for a process that started before its tenant moved and has not been on a GPU since: its
// variable is out of date. A process that sees fewer GPUs than the tenant has has chosen them.
void name_devices_anew() {
    const char* started_with = ::getenv("BERTH_VGPU_GPUS");
    const char* visible = ::getenv("CUDA_VISIBLE_DEVICES");
    const Seat* here = current_seat();
    if (here == nullptr || started_with == nullptr || visible == nullptr) return;
    char now[ledger::kGpusMax * (ledger::kUuidMax + 1)];
    char* end = now;
    for (std::uint32_t gpu = 0; gpu < here->gpu_count; ++gpu) {
        end += ::snprintf(end, ledger::kUuidMax + 1, "%s%s", gpu == 0 ? "" : ",",
                          here->membership.terms->gpus[here->places[gpu]].uuid);
    }
    const std::string_view seen(visible);
    const auto count = static_cast<std::uint32_t>(std::count(seen.begin(), seen.end(), ',') + 1);
    if (::strcmp(now, started_with) == 0 || count != here->gpu_count) return;
    ::setenv("CUDA_VISIBLE_DEVICES", now, 1);
    ::setenv("BERTH_VGPU_GPUS", now, 1);
}

// Without a tenant to enter there is nothing to do, and that is fine.
bool enter() {
    const char* socket = ::getenv("BERTH_VGPU_SOCKET");
    if (socket == nullptr || socket[0] == 0 || current_seat() != nullptr) return true;
    ledger::Reason reason;
    Seat* first = take_seat(socket, kJoinMs, nullptr, reason);
    if (first == nullptr) {
        complain("this job may not use GPUs without its share: %s", reason.text);
        return false;
    }
    static bool is_registered = false;
    if (!is_registered) ::pthread_atfork(nullptr, nullptr, forget_parent);
    is_registered = true;
    move_to(first);
    begin_noting();
    watch_seat(first, socket, {move_to, let_everybody_pass});
    return true;
}

}  // namespace

bool enter_tenancy() {
    if (current_seat() != nullptr) {
        wait_while_off();
        return true;
    }
    ::pthread_mutex_lock(&entering);
    const bool entered = enter();
    ::pthread_mutex_unlock(&entering);
    if (entered) {
        wait_while_off();
        if (gpu_count() > 0) name_devices_anew();
    }
    return entered;
}

void learn_tenants_devices() {
    if (const Seat* here = current_seat()) learn_devices(*here);
}

}  // namespace berth::vgpu::interposer
