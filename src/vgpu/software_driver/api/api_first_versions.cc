// SPDX-License-Identifier: Apache-2.0
//
// First versions of calls: the later ones do the work, at addresses that fit into 32 bits.
#include <sys/mman.h>

#include <algorithm>
#include <climits>

#include "vgpu/software_driver/driver.h"
#include "vgpu/software_driver/memory/allocate.h"

using namespace berth::vgpu::software_driver;

namespace {

unsigned int clamped(std::size_t number) {
    return static_cast<unsigned int>(std::min<std::size_t>(number, UINT_MAX));
}

// Where nothing is yet, below 4 GiB and at the begin of a page of the GPU; 0 when that is full.
CUdeviceptr low_address(std::uint64_t bytes) {
    constexpr std::uint64_t kPage = berth::vgpu::device::kPageBytes;
    void* place = ::mmap(nullptr, bytes + kPage, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
    if (place == MAP_FAILED) return 0;
    const auto begin = reinterpret_cast<CUdeviceptr>(place);
    const CUdeviceptr aligned = (begin + kPage - 1) / kPage * kPage;
    if (aligned != begin) AddressSpace::release(begin, aligned - begin);
    if (aligned != begin + kPage) AddressSpace::release(aligned + bytes, begin + kPage - aligned);
    return aligned;
}

}  // namespace

CUresult cuMemAlloc(CUdeviceptr_v1* to, unsigned int bytes) {
    return enter_context([&](Driver& driver, Context& context, Lock&) {
        if (to == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
        const CUdeviceptr low = allocate_pages(driver, context, bytes, low_address);
        if (low == 0) return CUDA_ERROR_OUT_OF_MEMORY;
        *to = clamped(low);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAllocPitch(CUdeviceptr_v1* to, unsigned int* pitch, unsigned int width,
                         unsigned int height, unsigned int element_bytes) {
    constexpr unsigned int kRow = 512;
    const std::size_t row = (std::size_t{width} + kRow - 1) / kRow * kRow;
    if (pitch == nullptr || width == 0 || height == 0 || element_bytes % 4 != 0 ||
        row * height > UINT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = cuMemAlloc(to, static_cast<unsigned int>(row * height));
    if (result == CUDA_SUCCESS) *pitch = clamped(row);
    return result;
}

CUresult cuMemFree(CUdeviceptr_v1 pointer) { return cuMemFree_v2(pointer); }

CUresult cuMemGetInfo(unsigned int* free, unsigned int* total) {
    std::size_t all_free = 0;
    std::size_t all = 0;
    const CUresult result = cuMemGetInfo_v2(&all_free, &all);
    if (result == CUDA_SUCCESS && free != nullptr) *free = clamped(all_free);
    if (result == CUDA_SUCCESS && total != nullptr) *total = clamped(all);
    return result;
}

CUresult cuDeviceTotalMem(unsigned int* bytes, CUdevice of) {
    std::size_t all = 0;
    const CUresult result =
        bytes == nullptr ? CUDA_ERROR_INVALID_VALUE : cuDeviceTotalMem_v2(&all, of);
    if (result == CUDA_SUCCESS) *bytes = clamped(all);
    return result;
}

CUresult cuArrayCreate(CUarray* to, const CUDA_ARRAY_DESCRIPTOR_v1* of) {
    if (of == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY_DESCRIPTOR later{of->Width, of->Height, of->Format, of->NumChannels};
    return cuArrayCreate_v2(to, &later);
}

CUresult cuArray3DCreate(CUarray* to, const CUDA_ARRAY3D_DESCRIPTOR_v1* of) {
    if (of == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY3D_DESCRIPTOR later{of->Width,  of->Height,      of->Depth,
                                        of->Format, of->NumChannels, of->Flags};
    return cuArray3DCreate_v2(to, &later);
}

CUresult cuCtxCreate(CUcontext* to, unsigned int flags, CUdevice of) {
    return cuCtxCreate_v2(to, flags, of);
}

CUresult cuCtxDestroy(CUcontext context) { return cuCtxDestroy_v2(context); }
