// SPDX-License-Identifier: Apache-2.0
//
// First versions of calls, with 32 bits for addresses and sizes: counted as the later ones are.
#include <algorithm>
#include <climits>

#include "vgpu/interposer/hooks/array_bytes.h"
#include "vgpu/interposer/process/charged_call.h"

using namespace berth::vgpu::interposer;

namespace {

unsigned int clamped(std::uint64_t number) {
    return static_cast<unsigned int>(std::min<std::uint64_t>(number, UINT_MAX));
}

std::uint64_t handle_of(const void* array) { return reinterpret_cast<std::uintptr_t>(array); }

}  // namespace

CUresult cuMemAlloc(CUdeviceptr_v1* pointer, unsigned int bytes) {
    const RealDriver& real = load_real_driver();
    if (real.cuMemAlloc == nullptr) return missing();
    if (pointer == nullptr || bytes == 0) return real.cuMemAlloc(pointer, bytes);
    return charged_call(
        Kind::memory, bytes, [&] { return real.cuMemAlloc(pointer, bytes); },
        [&] { return std::uint64_t{*pointer}; }, [&] { real.cuMemFree(*pointer); });
}

CUresult cuMemAllocPitch(CUdeviceptr_v1* pointer, unsigned int* pitch, unsigned int width,
                         unsigned int height, unsigned int element_bytes) {
    const RealDriver& real = load_real_driver();
    if (real.cuMemAllocPitch == nullptr) return missing();
    const auto call = [&] {
        return real.cuMemAllocPitch(pointer, pitch, width, height, element_bytes);
    };
    if (pointer == nullptr || pitch == nullptr) return call();
    return charged_rows(
        {width, height}, call, [&] { return Rows{*pointer, *pitch}; },
        [&] { real.cuMemFree(*pointer); });
}

CUresult cuMemFree(CUdeviceptr_v1 pointer) {
    const RealDriver& real = load_real_driver();
    if (real.cuMemFree == nullptr) return missing();
    return freeing_call(Kind::memory, pointer, [&] { return real.cuMemFree(pointer); });
}

CUresult cuMemGetInfo(unsigned int* free, unsigned int* total) {
    const RealDriver& real = load_real_driver();
    if (real.cuMemGetInfo == nullptr) return missing();
    if (here().gpu == kUnlimited) return real.cuMemGetInfo(free, total);
    std::size_t all_free = 0;
    std::size_t all = 0;
    const CUresult result = cuMemGetInfo_v2(&all_free, &all);
    if (result == CUDA_SUCCESS && free != nullptr) *free = clamped(all_free);
    if (result == CUDA_SUCCESS && total != nullptr) *total = clamped(all);
    return result;
}

CUresult cuDeviceTotalMem(unsigned int* bytes, CUdevice device) {
    const RealDriver& real = load_real_driver();
    if (real.cuDeviceTotalMem == nullptr) return missing();
    std::size_t all = 0;
    if (bytes == nullptr || cuDeviceTotalMem_v2(&all, device) != CUDA_SUCCESS)
        return real.cuDeviceTotalMem(bytes, device);
    *bytes = clamped(all);
    return CUDA_SUCCESS;
}

CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR_v1* of) {
    const RealDriver& real = load_real_driver();
    if (real.cuArrayCreate == nullptr) return missing();
    const auto call = [&] { return real.cuArrayCreate(array, of); };
    if (array == nullptr || of == nullptr) return call();
    const std::uint64_t bytes =
        bytes_of({of->Width, of->Height, 0, of->Format, of->NumChannels, 0});
    return charged_call(
        Kind::array, bytes, call, [&] { return handle_of(*array); },
        [&] { real.cuArrayDestroy(*array); });
}

CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR_v1* of) {
    const RealDriver& real = load_real_driver();
    if (real.cuArray3DCreate == nullptr) return missing();
    const auto call = [&] { return real.cuArray3DCreate(array, of); };
    if (array == nullptr || of == nullptr) return call();
    const std::uint64_t bytes =
        bytes_of({of->Width, of->Height, of->Depth, of->Format, of->NumChannels, of->Flags});
    return charged_call(
        Kind::array, bytes, call, [&] { return handle_of(*array); },
        [&] { real.cuArrayDestroy(*array); });
}
