// SPDX-License-Identifier: Apache-2.0
//
// Primary contexts, contexts and peers.
#include "vgpu/software_driver/current_contexts.h"
#include "vgpu/software_driver/driver.h"

using namespace berth::vgpu::software_driver;

namespace {

bool is_device(const Driver& driver, CUdevice of) {
    return of >= 0 && static_cast<std::size_t>(of) < driver.gpus.size();
}

CUcontext handle_of(Context* context) { return reinterpret_cast<CUcontext>(context); }

// Runs body(Driver&, Gpu&, Lock&) for a device that there is.
template <class Body>
CUresult enter_device(CUdevice of, Body body) {
    return enter([&](Driver& driver, Lock& lock) -> CUresult {
        if (!is_device(driver, of)) return CUDA_ERROR_INVALID_DEVICE;
        return body(driver, driver.gpus[static_cast<std::size_t>(of)], lock);
    });
}

void destroy_primary(Driver& driver, Gpu& gpu, Lock& lock) {
    if (gpu.primary == nullptr) return;
    synchronize_all(driver, lock, *gpu.primary);
    destroy_context(driver, *gpu.primary);
    gpu.primary = nullptr;
    gpu.primary_users = 0;
}

CUresult create_context(CUcontext* to, unsigned int flags, CUdevice of) {
    return enter_device(of, [&](Driver& driver, Gpu&, Lock&) {
        if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
        Context* context = make_context(driver, of, flags);
        if (context == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
        current_contexts().push_back(context);
        *to = handle_of(context);
        return CUDA_SUCCESS;
    });
}

// The context of the handle, or the current one for NULL.
Context* context_of(Driver& driver, CUcontext handle) {
    return handle == nullptr ? current_context(driver) : driver.contexts.find(handle);
}

std::size_t default_limit(CUlimit limit) {
    switch (limit) {
        case CU_LIMIT_STACK_SIZE: return 1024;
        case CU_LIMIT_PRINTF_FIFO_SIZE: return 1U << 20U;
        case CU_LIMIT_MALLOC_HEAP_SIZE: return 8U << 20U;
        case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH: return 2;
        case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: return 2048;
        case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: return 64;
        case CU_LIMIT_PERSISTING_L2_CACHE_SIZE: return 0;
    }
    return 0;
}

}  // namespace

CUresult cuDevicePrimaryCtxRetain(CUcontext* to, CUdevice of) {
    return enter_device(of, [&](Driver& driver, Gpu& gpu, Lock&) {
        if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (gpu.primary == nullptr) {
            gpu.primary = make_context(driver, of, gpu.primary_flags);
            if (gpu.primary == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
            gpu.primary->is_primary = true;
        }
        ++gpu.primary_users;
        *to = handle_of(gpu.primary);
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice of) {
    return enter_device(of, [&](Driver& driver, Gpu& gpu, Lock& lock) {
        if (gpu.primary == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
        if (--gpu.primary_users == 0) destroy_primary(driver, gpu, lock);
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice of) {
    return enter_device(of, [&](Driver& driver, Gpu& gpu, Lock& lock) {
        destroy_primary(driver, gpu, lock);
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice of, unsigned int flags) {
    return enter_device(of, [&](Driver&, Gpu& gpu, Lock&) {
        gpu.primary_flags = flags;
        if (gpu.primary != nullptr) gpu.primary->flags = flags;
        return CUDA_SUCCESS;
    });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice of, unsigned int* flags, int* active) {
    return enter_device(of, [&](Driver&, Gpu& gpu, Lock&) {
        if (flags != nullptr) *flags = gpu.primary_flags;
        if (active != nullptr) *active = gpu.primary != nullptr ? 1 : 0;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxCreate_v2(CUcontext* to, unsigned int flags, CUdevice of) {
    return create_context(to, flags, of);
}

CUresult cuCtxCreate_v3(CUcontext* to, CUexecAffinityParam*, int, unsigned int flags, CUdevice of) {
    return create_context(to, flags, of);
}

CUresult cuCtxCreate_v4(CUcontext* to, CUctxCreateParams*, unsigned int flags, CUdevice of) {
    return create_context(to, flags, of);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
    return enter([&](Driver& driver, Lock& lock) {
        Context* context = driver.contexts.find(handle);
        if (context == nullptr || context->is_primary) return CUDA_ERROR_INVALID_CONTEXT;
        synchronize_all(driver, lock, *context);
        auto& stack = current_contexts();
        if (!stack.empty() && stack.back() == context) stack.pop_back();
        destroy_context(driver, *context);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
    return enter([&](Driver& driver, Lock&) {
        Context* context = driver.contexts.find(handle);
        if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
        current_contexts().push_back(context);
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxPopCurrent_v2(CUcontext* to) {
    return enter([&](Driver&, Lock&) {
        auto& stack = current_contexts();
        if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
        if (to != nullptr) *to = handle_of(stack.back());
        stack.pop_back();
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSetCurrent(CUcontext handle) {
    return enter([&](Driver& driver, Lock&) {
        auto& stack = current_contexts();
        if (handle == nullptr) {
            if (!stack.empty()) stack.pop_back();
            return CUDA_SUCCESS;
        }
        Context* context = driver.contexts.find(handle);
        if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
        if (stack.empty())
            stack.push_back(context);
        else
            stack.back() = context;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetCurrent(CUcontext* to) {
    return enter([&](Driver& driver, Lock&) {
        if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *to = handle_of(current_context(driver));
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetDevice(CUdevice* to) { return cuCtxGetDevice_v2(to, nullptr); }

CUresult cuCtxGetDevice_v2(CUdevice* to, CUcontext handle) {
    return enter([&](Driver& driver, Lock&) {
        const Context* context = context_of(driver, handle);
        if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
        if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *to = context->device;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
    return enter([&](Driver& driver, Lock&) {
        const Context* context = context_of(driver, handle);
        if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
        if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *id = context->id;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetFlags(unsigned int* flags) {
    return enter_context([&](Driver&, Context& context, Lock&) {
        if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *flags = context.flags;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int* version) {
    return enter([&](Driver& driver, Lock&) {
        if (context_of(driver, handle) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
        if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *version = 3020;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxSynchronize() { return cuCtxSynchronize_v2(nullptr); }

CUresult cuCtxSynchronize_v2(CUcontext handle) {
    return enter([&](Driver& driver, Lock& lock) {
        Context* context = context_of(driver, handle);
        if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
        if (context->error != CUDA_SUCCESS) return context->error;
        const CUresult result = synchronize_all(driver, lock, *context);
        return result != CUDA_SUCCESS ? result : context->error;
    });
}

CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
    return enter_context([&](Driver&, Context& context, Lock&) {
        if (limit > CU_LIMIT_PERSISTING_L2_CACHE_SIZE) return CUDA_ERROR_UNSUPPORTED_LIMIT;
        context.limits[limit] = value;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
    return enter_context([&](Driver&, Context& context, Lock&) {
        if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (limit > CU_LIMIT_PERSISTING_L2_CACHE_SIZE) return CUDA_ERROR_UNSUPPORTED_LIMIT;
        const auto found = context.limits.find(limit);
        *value = found == context.limits.end() ? default_limit(limit) : found->second;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    return enter_context([&](Driver&, Context&, Lock&) {
        if (least != nullptr) *least = 0;
        if (greatest != nullptr) *greatest = -5;
        return CUDA_SUCCESS;
    });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
    return enter_context([&](Driver& driver, Context& context, Lock&) {
        const Context* other = driver.contexts.find(peer);
        if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
        if (other == nullptr || other == &context) return CUDA_ERROR_INVALID_CONTEXT;
        return context.peers.insert(other).second ? CUDA_SUCCESS
                                                  : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
    return enter_context([&](Driver& driver, Context& context, Lock&) {
        const Context* other = driver.contexts.find(peer);
        if (other == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
        return context.peers.erase(other) == 1 ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    });
}
