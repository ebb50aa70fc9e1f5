// SPDX-License-Identifier: Apache-2.0
//
// Arrays for textures and surfaces.
#include <algorithm>

#include "vgpu/interposer/hooks/array_bytes.h"
#include "vgpu/interposer/process/charged_call.h"

using namespace berth::vgpu::interposer;

namespace {

std::uint64_t element_bytes(CUarray_format format, unsigned int channels) {
    switch (format) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
        case CU_AD_FORMAT_SIGNED_INT8: return channels;
        case CU_AD_FORMAT_UNSIGNED_INT16:
        case CU_AD_FORMAT_SIGNED_INT16:
        case CU_AD_FORMAT_HALF: return 2ULL * channels;
        case CU_AD_FORMAT_UNSIGNED_INT32:
        case CU_AD_FORMAT_SIGNED_INT32:
        case CU_AD_FORMAT_FLOAT: break;
    }
    return 4ULL * channels;  // and for formats that came later: the largest of a channel
}

}  // namespace

namespace berth::vgpu::interposer {

std::uint64_t bytes_of(const CUDA_ARRAY3D_DESCRIPTOR& of) {
    const auto at_least_one = [](std::size_t count) { return std::max<std::size_t>(count, 1); };
    const __uint128_t bytes = static_cast<__uint128_t>(at_least_one(of.Width)) *
                              at_least_one(of.Height) * at_least_one(of.Depth);
    const __uint128_t all = bytes * element_bytes(of.Format, of.NumChannels);
    return all > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(all);
}

}  // namespace berth::vgpu::interposer

namespace {

// Each level is half as wide, high and deep as the one before; layers are not halved.
std::uint64_t bytes_of_levels(CUDA_ARRAY3D_DESCRIPTOR of, unsigned int levels) {
    std::uint64_t sum = 0;
    for (unsigned int level = 0; level < std::min(levels, 32U); ++level) {
        if (__builtin_add_overflow(sum, bytes_of(of), &sum)) return UINT64_MAX;
        of.Width = std::max<std::size_t>(of.Width / 2, 1);
        of.Height = of.Height == 0 ? 0 : std::max<std::size_t>(of.Height / 2, 1);
        if (of.Flags == 0) of.Depth = of.Depth == 0 ? 0 : std::max<std::size_t>(of.Depth / 2, 1);
    }
    return sum;
}

std::uint64_t handle_of(const void* array) { return reinterpret_cast<std::uintptr_t>(array); }

}  // namespace

CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* descriptor) {
    const RealDriver& real = load_real_driver();
    if (real.cuArrayCreate_v2 == nullptr) return missing();
    const auto call = [&] { return real.cuArrayCreate_v2(array, descriptor); };
    if (array == nullptr || descriptor == nullptr) return call();
    const std::uint64_t bytes = bytes_of(
        {descriptor->Width, descriptor->Height, 0, descriptor->Format, descriptor->NumChannels, 0});
    return charged_call(
        Kind::array, bytes, call, [&] { return handle_of(*array); },
        [&] { real.cuArrayDestroy(*array); });
}

CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
    const RealDriver& real = load_real_driver();
    if (real.cuArray3DCreate_v2 == nullptr) return missing();
    const auto call = [&] { return real.cuArray3DCreate_v2(array, descriptor); };
    if (array == nullptr || descriptor == nullptr) return call();
    return charged_call(
        Kind::array, bytes_of(*descriptor), call, [&] { return handle_of(*array); },
        [&] { real.cuArrayDestroy(*array); });
}

CUresult cuArrayDestroy(CUarray array) {
    const RealDriver& real = load_real_driver();
    if (real.cuArrayDestroy == nullptr) return missing();
    return freeing_call(Kind::array, handle_of(array), [&] { return real.cuArrayDestroy(array); });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor,
                                unsigned int levels) {
    const RealDriver& real = load_real_driver();
    if (real.cuMipmappedArrayCreate == nullptr) return missing();
    const auto call = [&] { return real.cuMipmappedArrayCreate(array, descriptor, levels); };
    if (array == nullptr || descriptor == nullptr) return call();
    return charged_call(
        Kind::mipmap, bytes_of_levels(*descriptor, levels), call, [&] { return handle_of(*array); },
        [&] { real.cuMipmappedArrayDestroy(*array); });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
    const RealDriver& real = load_real_driver();
    if (real.cuMipmappedArrayDestroy == nullptr) return missing();
    return freeing_call(Kind::mipmap, handle_of(array),
                        [&] { return real.cuMipmappedArrayDestroy(array); });
}
