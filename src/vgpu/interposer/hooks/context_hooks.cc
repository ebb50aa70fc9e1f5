// SPDX-License-Identifier: Apache-2.0
//
// Contexts: the first of a process joins it to its tenant, each costs memory, and what lives in
// one goes with it.
#include <pthread.h>

#include "vgpu/interposer/locked.h"
#include "vgpu/interposer/process/charged_call.h"
#include "vgpu/interposer/process/joining.h"
#include "vgpu/interposer/process/work.h"
#include "vgpu/interposer/sorted.h"

using namespace berth::vgpu::interposer;

namespace {

struct Cost {
    Gpu gpu = kUnlimited;
    std::uint64_t bytes = 0;
};
struct Primary {
    CUcontext context = nullptr;
    unsigned int retained = 0;
    Cost cost;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
constexpr CUdevice kDevicesMax = 64;
Primary primaries[kDevicesMax];
Primary beyond;  // of a device that no machine has: the driver refuses it
// What finds no host memory here stays charged: that is never less than what is held.
Sorted<CUcontext, Cost> contexts;
Sorted<CUgreenCtx, CUdevice> green_contexts;

Primary& primary_of(CUdevice device) {
    return device >= 0 && device < kDevicesMax ? primaries[device] : beyond;
}

Cost cost_on(CUdevice device) {
    const Gpu gpu = gpu_of(device);
    return {gpu, account_of(gpu).context};
}

// A tenant may not work on a device that it has no share of, but for looking at it.
bool take_cost(const Cost& cost) {
    return cost.gpu == kNotGiven || cost.bytes == 0 || take(cost.gpu, cost.bytes);
}

template <class Call>
CUresult create_context(Call call, CUcontext* context, CUdevice device) {
    const Cost cost = cost_on(device);
    if (!take_cost(cost)) return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = call();
    if (result != CUDA_SUCCESS || context == nullptr) {
        give(cost.gpu, cost.bytes);
        return result;
    }
    const Locked locked(lock);
    contexts.put(*context, cost);
    return result;
}

template <class Call>
CUresult destroy_context(Call call, CUcontext context) {
    const Locked locked(lock);
    const CUresult result = call();
    const Cost* known = contexts.find(context);
    if (result != CUDA_SUCCESS || known == nullptr) return result;
    forget_context(context);
    forget_marks(context);
    give(known->gpu, known->bytes);
    contexts.erase(context);
    return result;
}

bool is_retained(const Primary& primary) {
    const Locked locked(lock);
    return primary.retained > 0;
}

// Whatever keeps the primary context of the device; the first pays for it, and nothing is locked
// while it waits for that. `note` writes down what `call` gave.
template <class Call, class Note>
CUresult retain(CUdevice device, Call call, Note note) {
    Primary& primary = primary_of(device);
    const Cost cost = cost_on(device);
    const bool has_paid = !is_retained(primary);
    if (has_paid && !take_cost(cost)) return CUDA_ERROR_OUT_OF_MEMORY;
    const Locked locked(lock);
    const CUresult result = call();
    // Meanwhile another thread may have been the first, or let go of it.
    const bool is_first = result == CUDA_SUCCESS && primary.retained == 0;
    if (has_paid && !is_first) give(cost.gpu, cost.bytes);
    if (!has_paid && is_first) take_regardless(cost.gpu, cost.bytes);
    if (result != CUDA_SUCCESS) return result;
    if (is_first) primary = {nullptr, 0, cost};
    ++primary.retained;
    note(primary);
    return result;
}

void drop_primary(Primary& primary) {
    forget_context(primary.context);
    forget_marks(primary.context);
    give(primary.cost.gpu, primary.cost.bytes);
    primary = {};
}

template <class Call>
CUresult release_primary(Call call, CUdevice device) {
    const Locked locked(lock);
    const CUresult result = call();
    Primary& primary = primary_of(device);
    if (result == CUDA_SUCCESS && primary.retained > 0 && --primary.retained == 0)
        drop_primary(primary);
    return result;
}

// Everything in it is gone, and those who retained it may go on with an empty one.
template <class Call>
CUresult reset_primary(Call call, CUdevice device) {
    const Locked locked(lock);
    const CUresult result = call();
    Primary& primary = primary_of(device);
    if (result == CUDA_SUCCESS && primary.context != nullptr) forget_context(primary.context);
    return result;
}

template <class Call>
CUresult retain_primary(Call call, CUcontext* context, CUdevice device) {
    if (!is_tenant() || context == nullptr) return call();
    return retain(device, call, [&](Primary& primary) { primary.context = *context; });
}

// It keeps the primary context; its memory is counted as that context's.
template <class Call>
CUresult create_green(Call call, CUgreenCtx* green, CUdevice device) {
    if (!is_tenant() || green == nullptr) return call();
    return retain(device, call, [&](Primary&) { green_contexts.put(*green, device); });
}

template <class Call>
CUresult destroy_green(Call call, CUgreenCtx green) {
    CUdevice device = -1;
    {
        const Locked locked(lock);
        if (const CUdevice* known = green_contexts.find(green)) device = *known;
    }
    if (device < 0) return call();
    const CUresult result = release_primary(call, device);
    const Locked locked(lock);
    if (result == CUDA_SUCCESS) green_contexts.erase(green);
    return result;
}

template <class Call>
CUresult initialize(Call call) {
    // The driver then sees the GPUs that are the tenant's by now.
    if (!enter_tenancy()) return CUDA_ERROR_NOT_PERMITTED;
    const CUresult result = call();
    if (result == CUDA_SUCCESS) learn_tenants_devices();
    return result;
}

}  // namespace

#include "vgpu/interposer/generated/context_hooks.inc"
