// SPDX-License-Identifier: Apache-2.0
//
// Green contexts, as far as they keep their GPU's primary context: their work is the primary's, and
// runs on all of the GPU.
#include "vgpu/device/slices.h"
#include "vgpu/software_driver/driver.h"

using namespace berth::vgpu::software_driver;
namespace device = berth::vgpu::device;

// What a green context may use; lives as long as the program, as the real one's does.
struct CUdevResourceDesc_st {
    unsigned int sms = 0;
};

namespace {

bool is_green_device(const Driver& driver, CUdevice of) {
    return of >= 0 && static_cast<std::size_t>(of) < driver.gpus.size();
}

}  // namespace

CUresult cuDeviceGetDevResource(CUdevice of, CUdevResource* resource, CUdevResourceType type) {
    return enter([&](Driver& driver, Lock&) {
        if (resource == nullptr || type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_VALUE;
        if (!is_green_device(driver, of)) return CUDA_ERROR_INVALID_DEVICE;
        *resource = {};
        resource->type = type;
        const std::uint32_t unit = driver.gpus[static_cast<std::size_t>(of)].number;
        resource->sm.smCount = device::sms_of(driver.description(), unit);
        return CUDA_SUCCESS;
    });
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* to, CUdevResource* resources,
                                   unsigned int count) {
    return enter([&](Driver&, Lock&) {
        if (to == nullptr || resources == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
        unsigned int sms = 0;
        for (unsigned int i = 0; i < count; ++i) {
            if (resources[i].type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_VALUE;
            sms += resources[i].sm.smCount;
        }
        *to = new CUdevResourceDesc_st{sms};
        return CUDA_SUCCESS;
    });
}

CUresult cuGreenCtxCreate(CUgreenCtx* to, CUdevResourceDesc desc, CUdevice of, unsigned int flags) {
    if (to == nullptr || desc == nullptr || flags != CU_GREEN_CTX_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    CUcontext primary = nullptr;
    if (const CUresult result = cuDevicePrimaryCtxRetain(&primary, of); result != CUDA_SUCCESS)
        return result;
    return enter([&](Driver& driver, Lock&) {
        auto* const green = reinterpret_cast<CUgreenCtx>(driver.next_green++);
        driver.green_contexts[green] = of;
        *to = green;
        return CUDA_SUCCESS;
    });
}

CUresult cuGreenCtxDestroy(CUgreenCtx green) {
    CUdevice of = -1;
    const CUresult known = enter([&](Driver& driver, Lock&) {
        const auto found = driver.green_contexts.find(green);
        if (found == driver.green_contexts.end()) return CUDA_ERROR_INVALID_CONTEXT;
        of = found->second;
        driver.green_contexts.erase(found);
        return CUDA_SUCCESS;
    });
    return known == CUDA_SUCCESS ? cuDevicePrimaryCtxRelease_v2(of) : known;
}

CUresult cuCtxFromGreenCtx(CUcontext* to, CUgreenCtx green) {
    return enter([&](Driver& driver, Lock&) {
        const auto found = driver.green_contexts.find(green);
        if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (found == driver.green_contexts.end()) return CUDA_ERROR_INVALID_CONTEXT;
        Context* primary = driver.gpus[static_cast<std::size_t>(found->second)].primary;
        *to = reinterpret_cast<CUcontext>(primary);
        return CUDA_SUCCESS;
    });
}
