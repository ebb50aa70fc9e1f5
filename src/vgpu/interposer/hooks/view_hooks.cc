// SPDX-License-Identifier: Apache-2.0
//
// How large does a GPU look to a tenant? As large as its limit, as full as it has made it; never
// with more free than the GPU really has. Any out-pointer may be null. First versions show sizes
// of 32 bits, and larger ones as the largest of these.
#include <algorithm>
#include <limits>

#include "vgpu/interposer/process/charged_call.h"

using namespace berth::vgpu::interposer;

namespace {

template <class Size>
void show(std::uint64_t bytes, Size* to) {
    if (to != nullptr)
        *to = static_cast<Size>(std::min<std::uint64_t>(bytes, std::numeric_limits<Size>::max()));
}

template <class Call, class Size>
CUresult show_memory(Call call, Size* free, Size* total) {
    const Here where = here();
    if (where.gpu < 0) return call();
    std::size_t real_free = 0;
    std::size_t real_total = 0;
    const CUresult result = real_driver.cuMemGetInfo_v2(&real_free, &real_total);
    if (result != CUDA_SUCCESS) return result;
    const Account account = account_of(where.gpu);
    const std::uint64_t left = account.limit - std::min(account.used, account.limit);
    show(std::min<std::uint64_t>(real_free, left), free);
    show(std::min<std::uint64_t>(real_total, account.limit), total);
    return result;
}

template <class Call, class Size>
CUresult show_total(Call call, Size* bytes, CUdevice device) {
    std::size_t all = 0;
    const Gpu gpu = gpu_of(device);
    if (bytes == nullptr || real_driver.cuDeviceTotalMem_v2(&all, device) != CUDA_SUCCESS)
        return call();
    show(gpu < 0 ? all : std::min<std::uint64_t>(all, account_of(gpu).limit), bytes);
    return CUDA_SUCCESS;
}

}  // namespace

#include "vgpu/interposer/generated/view_hooks.inc"
