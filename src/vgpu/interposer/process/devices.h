// SPDX-License-Identifier: Apache-2.0
//
// On which GPU does the calling thread work, and in which context? Contexts that were seen are
// remembered, so that an allocation asks the driver once only.
#pragma once

#include "vgpu/interposer/process/seat.h"
#include "vgpu/interposer/process/tenancy.h"

namespace berth::vgpu::interposer {

struct Here {
    Gpu gpu = kUnlimited;
    CUcontext context = nullptr;
};

// Unlimited where there is no context: the driver refuses such a call itself.
Here here();
// Reads the UUIDs of all devices, once after cuInit and before anybody asks.
void learn_devices(const Seat& seat);
void forget_context_device(CUcontext context);
void forget_devices();

}  // namespace berth::vgpu::interposer
