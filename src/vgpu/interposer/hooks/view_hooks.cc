// SPDX-License-Identifier: Apache-2.0
//
// How large does a GPU look to a tenant? As large as its limit, as full as it has made it; never
// with more free than the GPU really has. Any out-pointer may be null.
#include <algorithm>

#include "vgpu/interposer/process/charged_call.h"

using namespace berth::vgpu::interposer;

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    const RealDriver& real = load_real_driver();
    if (real.cuMemGetInfo_v2 == nullptr) return missing();
    const Here where = here();
    if (where.gpu < 0) return real.cuMemGetInfo_v2(free, total);
    std::size_t real_free = 0;
    std::size_t real_total = 0;
    const CUresult result = real.cuMemGetInfo_v2(&real_free, &real_total);
    if (result != CUDA_SUCCESS) return result;
    const Account account = account_of(where.gpu);
    const std::uint64_t left = account.limit - std::min(account.used, account.limit);
    if (free != nullptr) *free = std::min<std::uint64_t>(real_free, left);
    if (total != nullptr) *total = std::min<std::uint64_t>(real_total, account.limit);
    return result;
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
    const RealDriver& real = load_real_driver();
    if (real.cuDeviceTotalMem_v2 == nullptr) return missing();
    const CUresult result = real.cuDeviceTotalMem_v2(bytes, device);
    const Gpu gpu = gpu_of(device);
    if (result == CUDA_SUCCESS && bytes != nullptr && gpu >= 0)
        *bytes = std::min<std::uint64_t>(*bytes, account_of(gpu).limit);
    return result;
}
