// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/process/seat.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <new>

#include "vgpu/interposer/complain.h"

namespace berth::vgpu::interposer {
namespace {

constexpr int kJoinMs = 5000;
constexpr long kRetryMs = 20;
constexpr const char* kNoMemory = "no host memory left";

const char* without_kind(const char* uuid) {
    const char* dash = ::strchr(uuid, '-');
    return dash == nullptr ? uuid : dash + 1;
}

struct Watch {
    const Seat* seat = nullptr;
    char* socket = nullptr;  // a copy: the program may change its environment
    SeatChanges changes;
};

void wait_for_end(int socket) {
    pollfd question{socket, POLLRDHUP, 0};
    while (::poll(&question, 1, -1) <= 0) {
    }
}

Seat* try_for_seat(const Watch& watch) {
    ledger::Reason reason;
    return take_seat(watch.socket, kJoinMs, watch.seat, reason);
}

template <class Thing>
Thing* made(const Thing& thing) {
    void* memory = ::malloc(sizeof(Thing));
    return memory == nullptr ? nullptr : new (memory) Thing(thing);
}

void* keep_watch(void* argument) {
    Watch& watch = *static_cast<Watch*>(argument);
    while (true) {
        wait_for_end(watch.seat->membership.socket);
        watch.changes.arbiter_has_gone();
        ::close(watch.seat->membership.socket);
        Seat* next = try_for_seat(watch);
        while (next == nullptr) {
            const timespec pause{0, kRetryMs * 1'000'000};
            ::nanosleep(&pause, nullptr);
            next = try_for_seat(watch);
        }
        watch.changes.move_to(next);
        watch.seat = next;
    }
}

}  // namespace

Gpu Seat::find(const char* uuid) const {
    for (std::uint32_t gpu = 0; gpu < gpu_count; ++gpu)
        if (::strcmp(without_kind(membership.terms->gpus[places[gpu]].uuid), without_kind(uuid)) ==
            0)
            return static_cast<Gpu>(gpu);
    return kNotGiven;
}

Seat* take_seat(const char* socket, int timeout_ms, const Seat* before, ledger::Reason& reason) {
    Seat seat;
    if (!ledger::join(socket, timeout_ms, seat.membership, reason)) return nullptr;
    seat.gpu_count = seat.membership.terms->gpu_count;
    for (std::uint32_t gpu = 0; gpu < seat.gpu_count; ++gpu) seat.places[gpu] = gpu;
    Seat ordered = seat;
    if (before != nullptr) ordered.gpu_count = before->gpu_count;
    for (std::uint32_t gpu = 0; before != nullptr && gpu < before->gpu_count; ++gpu) {
        const char* uuid = before->membership.terms->gpus[before->places[gpu]].uuid;
        const int found = seat.find(uuid);
        if (found < 0) {
            ::snprintf(reason.text, sizeof reason.text, "the tenant no longer has GPU %s", uuid);
            ledger::leave(seat.membership);
            return nullptr;
        }
        ordered.places[gpu] = static_cast<std::uint32_t>(found);
    }
    Seat* const kept = made(ordered);
    if (kept == nullptr) {
        ::snprintf(reason.text, sizeof reason.text, "%s", kNoMemory);
        ledger::leave(seat.membership);
    }
    return kept;
}

void watch_seat(const Seat* seat, const char* socket, const SeatChanges& changes) {
    Watch* const watch = made(Watch{seat, ::strdup(socket), changes});
    if (watch != nullptr && watch->socket != nullptr && start_thread(keep_watch, watch)) return;
    complain("no thread to notice the end of the arbiter; its limits stay as they are");
}

bool start_thread(void* (*body)(void*), void* argument) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread{};
    const bool started = ::pthread_create(&thread, nullptr, body, argument) == 0;
    if (started) ::pthread_detach(thread);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started;
}

}  // namespace berth::vgpu::interposer
