// SPDX-License-Identifier: Apache-2.0
//
// Linear memory: cuMemAlloc, its pitched and managed kin, and cuMemFree. Addresses and sizes of
// their first versions have 32 bits.
#include "vgpu/interposer/process/charged_call.h"
#include "vgpu/interposer/process/pools.h"

using namespace berth::vgpu::interposer;

namespace {

template <class Call, class Pointer>
CUresult allocate(Call call, Pointer* pointer, std::size_t bytes) {
    if (pointer == nullptr || bytes == 0) return call();
    return charged_call(
        Kind::memory, bytes, call, [&] { return std::uint64_t{*pointer}; },
        [&] { real_driver.cuMemFree_v2(*pointer); });
}

template <class Call, class Pointer, class Size>
CUresult allocate_rows(Call call, Pointer* pointer, Size* pitch, std::size_t width,
                       std::size_t height) {
    if (pointer == nullptr || pitch == nullptr) return call();
    return charged_rows(
        {width, height}, call, [&] { return Rows{*pointer, *pitch}; },
        [&] { real_driver.cuMemFree_v2(*pointer); });
}

// Where the owner allows it, managed memory may pass the limit: the driver pages it out.
template <class Call>
CUresult allocate_managed(Call call, CUdeviceptr* pointer, std::size_t bytes) {
    const Here where = here();
    if (where.gpu >= 0 && account_of(where.gpu).managed_may_pass) return call();
    return allocate(call, pointer, bytes);
}

template <class Call>
CUresult free_memory(Call call, std::uint64_t pointer) {
    return freeing_call(Kind::memory, pointer, call, settle_pool);
}

}  // namespace

#include "vgpu/interposer/generated/memory_hooks.inc"
