// SPDX-License-Identifier: Apache-2.0
//
// How is an allocation of any family counted? Charge first, then ask the driver, then remember
// what it gave; whatever fails is undone.
#pragma once

#include <utility>

#include "vgpu/interposer/driver/real_driver.h"
#include "vgpu/interposer/process/blocks.h"

namespace berth::vgpu::interposer {

// `call` asks the driver, `handle` reads what it gave, `undo` gives that back.
template <class Call, class Handle, class Undo>
CUresult charged_call(Kind kind, std::uint64_t bytes, Call call, Handle handle, Undo undo) {
    const Here where = here();
    if (where.gpu == kUnlimited) return call();
    if (!take_block(where.gpu, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = call();
    if (result != CUDA_SUCCESS) {
        give_block(where.gpu, bytes);
        return result;
    }
    if (remember({handle(), where.context, bytes, nullptr, where.gpu, kind})) return result;
    undo();
    give_block(where.gpu, bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

// Rows as they are asked for, and as the driver gives them.
struct Shape {
    std::uint64_t width = 0;  // bytes
    std::uint64_t height = 0;
};
struct Rows {
    std::uint64_t pointer = 0;
    std::uint64_t pitch = 0;
};
// They begin at multiples of this on all GPUs so far.
inline constexpr std::uint64_t kRowBytes = 512;

// Likewise, for rows that the driver pads: charged first as on all GPUs so far, and once more as
// `rows` says where a driver pads them further.
template <class Call, class Given, class Undo>
CUresult charged_rows(const Shape& shape, Call call, Given rows, Undo undo) {
    const auto product = [](std::uint64_t one, std::uint64_t other) {
        std::uint64_t result = 0;
        return __builtin_mul_overflow(one, other, &result) ? UINT64_MAX : result;
    };
    const Here where = here();
    if (where.gpu == kUnlimited) return call();
    const std::uint64_t pitch =
        product(shape.width / kRowBytes + (shape.width % kRowBytes != 0), kRowBytes);
    std::uint64_t bytes = product(pitch, shape.height);
    if (!take_block(where.gpu, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    const CUresult result = call();
    if (result != CUDA_SUCCESS) {
        give_block(where.gpu, bytes);
        return result;
    }
    const std::uint64_t given = product(rows().pitch, shape.height);
    const bool fits = given <= bytes || take_block(where.gpu, given);
    if (fits && given > bytes) give_block(where.gpu, std::exchange(bytes, given));
    if (fits && remember({rows().pointer, where.context, bytes, nullptr, where.gpu, Kind::memory}))
        return result;
    undo();
    give_block(where.gpu, bytes);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

// The other way. A block that is not here was never charged; one of a pool is for `settle`.
template <class Call>
CUresult freeing_call(Kind kind, std::uint64_t handle, Call call, void (*settle)(const Block&)) {
    const Block block = forget(kind, handle);
    const CUresult result = call();
    if (block.kind == Kind::none) return result;
    if (result != CUDA_SUCCESS) {
        if (!remember(block)) return result;  // stays charged: never less than what is held
    } else if (block.pool != nullptr) {
        settle(block);
    } else {
        give_block(block.gpu, block.bytes);
    }
    return result;
}

}  // namespace berth::vgpu::interposer
