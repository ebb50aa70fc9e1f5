// SPDX-License-Identifier: Apache-2.0
//
// Linear memory: cuMemAlloc, its pitched and managed kin, and cuMemFree.
#include "vgpu/interposer/process/charged_call.h"
#include "vgpu/interposer/process/pools.h"

using namespace berth::vgpu::interposer;

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t bytes) {
    const RealDriver& real = load_real_driver();
    if (real.cuMemAlloc_v2 == nullptr) return missing();
    if (pointer == nullptr || bytes == 0) return real.cuMemAlloc_v2(pointer, bytes);
    return charged_call(
        Kind::memory, bytes, [&] { return real.cuMemAlloc_v2(pointer, bytes); },
        [&] { return *pointer; }, [&] { real.cuMemFree_v2(*pointer); });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height, unsigned int element_bytes) {
    const RealDriver& real = load_real_driver();
    if (real.cuMemAllocPitch_v2 == nullptr) return missing();
    const auto call = [&] {
        return real.cuMemAllocPitch_v2(pointer, pitch, width, height, element_bytes);
    };
    if (pointer == nullptr || pitch == nullptr) return call();
    return charged_rows(
        {width, height}, call, [&] { return Rows{*pointer, *pitch}; },
        [&] { real.cuMemFree_v2(*pointer); });
}

CUresult cuMemAllocManaged(CUdeviceptr* pointer, std::size_t bytes, unsigned int flags) {
    const RealDriver& real = load_real_driver();
    if (real.cuMemAllocManaged == nullptr) return missing();
    const auto call = [&] { return real.cuMemAllocManaged(pointer, bytes, flags); };
    if (pointer == nullptr || bytes == 0) return call();
    // Where the owner allows it, managed memory may pass the limit: the driver pages it out.
    const Here where = here();
    if (where.gpu >= 0 && account_of(where.gpu).managed_may_pass) return call();
    return charged_call(
        Kind::memory, bytes, call, [&] { return *pointer; }, [&] { real.cuMemFree_v2(*pointer); });
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
    const RealDriver& real = load_real_driver();
    if (real.cuMemFree_v2 == nullptr) return missing();
    const Block block = forget(Kind::memory, pointer);
    const CUresult result = real.cuMemFree_v2(pointer);
    if (block.kind == Kind::none) return result;
    if (result != CUDA_SUCCESS) {
        if (!remember(block)) return result;  // stays charged
    } else if (block.pool != nullptr) {
        settle_pool(block);
    } else {
        give_block(block.gpu, block.bytes);
    }
    return result;
}
