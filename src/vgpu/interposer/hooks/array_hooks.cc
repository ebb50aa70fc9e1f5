// SPDX-License-Identifier: Apache-2.0
//
// Arrays for textures and surfaces. The driver does not say how large one is: its elements are
// counted, which leaves out what a GPU adds to arrange them.
#include <algorithm>

#include "vgpu/interposer/process/charged_call.h"
#include "vgpu/interposer/process/pools.h"

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

// Of either version of a descriptor; one without a depth is of a flat array.
template <class Descriptor>
std::uint64_t bytes_of(const Descriptor& of) {
    const auto at_least_one = [](std::size_t count) { return std::max<std::size_t>(count, 1); };
    __uint128_t bytes = static_cast<__uint128_t>(at_least_one(of.Width)) * at_least_one(of.Height);
    if constexpr (requires { of.Depth; }) bytes *= at_least_one(of.Depth);
    const __uint128_t all = bytes * element_bytes(of.Format, of.NumChannels);
    return all > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(all);
}

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

template <class Call, class Descriptor>
CUresult create_array(Call call, CUarray* array, const Descriptor* descriptor) {
    if (array == nullptr || descriptor == nullptr) return call();
    return charged_call(
        Kind::array, bytes_of(*descriptor), call, [&] { return handle_of(*array); },
        [&] { real_driver.cuArrayDestroy(*array); });
}

template <class Call>
CUresult create_mipmap(Call call, CUmipmappedArray* array,
                       const CUDA_ARRAY3D_DESCRIPTOR* descriptor, unsigned int levels) {
    if (array == nullptr || descriptor == nullptr) return call();
    return charged_call(
        Kind::mipmap, bytes_of_levels(*descriptor, levels), call, [&] { return handle_of(*array); },
        [&] { real_driver.cuMipmappedArrayDestroy(*array); });
}

template <class Call>
CUresult destroy(Call call, Kind kind, const void* array) {
    return freeing_call(kind, handle_of(array), call, settle_pool);
}

}  // namespace

#include "vgpu/interposer/generated/array_hooks.inc"
