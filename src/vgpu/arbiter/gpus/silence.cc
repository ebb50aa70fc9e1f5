// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/gpus/silence.h"

#include <algorithm>

#include "vgpu/windows/windows.h"

namespace berth::vgpu::arbiter {
namespace {

using lending::Where;

constexpr std::int64_t kLookLeast = 5'000'000;
constexpr std::int64_t kLookMost = 1'000'000'000;
// Within which a call is seen of who is parked: little beside the time to come back.
constexpr std::int64_t kLookParked = 20'000'000;

std::int64_t look_at_parked(Tenant& tenant, std::int64_t now) {
    Calls& calls = tenant.calls;
    if (calls.is_wake_reported) return windows::Windows::kNever;
    if (calls.is_any_since || tenant.has_called())
        calls.is_wake_reported = tenant.order_move(ledger::Move::wake);
    return now + kLookParked;
}

std::int64_t look_at(Tenant& tenant, std::int64_t now) {
    Calls& calls = tenant.calls;
    const std::int64_t after = calls.silence_reported_after;
    if (tenant.has_called()) {
        calls.last = now;
        calls.is_any_since = true;
        tenant.forget_calls();
    } else if (now - std::max(calls.last, calls.reported) >= after &&
               tenant.order_move(ledger::Move::idle, now - calls.last)) {
        calls.reported = now;
        calls.is_any_since = false;
    }
    return now + std::clamp(after / 8, kLookLeast, kLookMost);
}

}  // namespace

std::int64_t look_for_silence(Tenants& tenants, std::int64_t now) {
    std::int64_t next = windows::Windows::kNever;
    for (auto& [name, tenant] : tenants) {
        if (tenant->calls.silence_reported_after == 0) continue;
        if (tenant->whereabouts.is_parked) next = std::min(next, look_at_parked(*tenant, now));
        if (tenant->whereabouts.where == Where::here) next = std::min(next, look_at(*tenant, now));
    }
    return next;
}

}  // namespace berth::vgpu::arbiter
