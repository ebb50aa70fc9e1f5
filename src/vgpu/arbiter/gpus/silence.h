// SPDX-License-Identifier: Apache-2.0
//
// Which tenants have made no call to their GPUs for as long as their terms say, and which make one
// again while they are parked? Their supervisors get a message (ledger/stay.h). A process sets a
// word before each call goes to the driver (vgpu/interposer/driver/calls.h); here it is looked at
// and cleared, now and then: reported silence is never longer than the real one, and shorter by at
// most an eighth of what the terms say. From the report of a tenant's silence until it is back the
// word is only read: a call made meanwhile wakes it as soon as it is parked, whether the driver
// held it up or not.
#pragma once

#include <cstdint>

#include "vgpu/arbiter/gpus/loans.h"

namespace berth::vgpu::arbiter {

// When to look again at the latest.
std::int64_t look_for_silence(Tenants& tenants, std::int64_t now);

}  // namespace berth::vgpu::arbiter
