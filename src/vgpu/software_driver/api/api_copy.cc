// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills, of bytes and of boxes.
#include "vgpu/software_driver/api/twin.h"
#include "vgpu/software_driver/driver.h"
#include "vgpu/software_driver/work/box_copy.h"

using namespace berth::vgpu::software_driver;

namespace {

enum class Return { WhenDone, AtOnce };

template <class Describe>
CUresult copy(Default meant, CUstream handle, Return when, Describe describe) {
    return enter_stream(meant, handle, [&](Driver& driver, Context&, Stream& stream, Lock& lock) {
        Copy wanted;
        if (const CUresult result = describe(driver, wanted); result != CUDA_SUCCESS) return result;
        const auto& [to, from, box] = wanted;
        if (box.bytes() == 0) return CUDA_SUCCESS;
        if (to.address == 0 || from.address == 0) return CUDA_ERROR_INVALID_VALUE;
        if (!is_inside(driver, to, box) || !is_inside(driver, from, box))
            return CUDA_ERROR_INVALID_VALUE;
        const bool is_captured = stream.capture != nullptr;
        if (is_captured && when == Return::WhenDone) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        const CUresult result =
            enqueue(driver, stream,
                    copy_operation(driver, wanted,
                                   is_captured || when == Return::WhenDone ? ReadHost::WhenItRuns
                                                                           : ReadHost::Now));
        if (result != CUDA_SUCCESS || is_captured) return result;
        // The program may look at pageable memory as soon as the call returns.
        return when == Return::WhenDone || is_pageable(driver, to)
                   ? synchronize(driver, lock, stream)
                   : CUDA_SUCCESS;
    });
}

CUresult copy_to_device(Default meant, CUdeviceptr to, const void* from, std::size_t bytes,
                        CUstream stream, Return when) {
    return copy(meant, stream, when, [&](Driver&, Copy& wanted) {
        wanted = {device_place(to), host_place(from), {bytes}};
        return CUDA_SUCCESS;
    });
}

CUresult copy_to_host(Default meant, void* to, CUdeviceptr from, std::size_t bytes, CUstream stream,
                      Return when) {
    return copy(meant, stream, when, [&](Driver&, Copy& wanted) {
        wanted = {host_place(to), device_place(from), {bytes}};
        return CUDA_SUCCESS;
    });
}

CUresult copy_within(Default meant, CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                     CUstream stream, Return when) {
    return copy(meant, stream, when, [&](Driver&, Copy& wanted) {
        wanted = {device_place(to), device_place(from), {bytes}};
        return CUDA_SUCCESS;
    });
}

CUresult copy_any(Default meant, CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                  CUstream stream, Return when) {
    return copy(meant, stream, when, [&](Driver& driver, Copy& wanted) {
        wanted = {any_place(driver, to), any_place(driver, from), {bytes}};
        return CUDA_SUCCESS;
    });
}

CUresult copy_peer(Default meant, CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                   std::size_t bytes, CUstream stream, Return when) {
    return copy_within(meant, to, from, bytes, stream, when);
}

CUresult copy_box(Default meant, const CUDA_MEMCPY3D* parameters, CUstream stream, Return when) {
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return copy(meant, stream, when, [&](Driver& driver, Copy& wanted) {
        return read_copy(driver, *parameters, wanted);
    });
}

CUresult copy_area(Default meant, const CUDA_MEMCPY2D* parameters, CUstream stream, Return when) {
    if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_MEMCPY3D wide = widened(*parameters);
    return copy_box(meant, &wide, stream, when);
}

struct Fill {
    std::uint32_t value;
    std::size_t unit_bytes;
};

CUresult fill(Default meant, CUdeviceptr to, std::size_t pitch, Fill with, std::size_t count,
              std::size_t rows, CUstream handle, Return when) {
    return enter_stream(meant, handle, [&](Driver& driver, Context&, Stream& stream, Lock& lock) {
        const Place place = device_place(to, pitch, rows);
        const Box box = {count * with.unit_bytes, rows, 1};
        if (box.bytes() == 0) return CUDA_SUCCESS;
        if (to % with.unit_bytes != 0 || !is_inside(driver, place, box))
            return CUDA_ERROR_INVALID_VALUE;
        const bool is_captured = stream.capture != nullptr;
        if (is_captured && when == Return::WhenDone) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        const CUresult result = enqueue(
            driver, stream, fill_operation(driver, place, box, with.value, with.unit_bytes));
        if (result != CUDA_SUCCESS || when == Return::AtOnce) return result;
        return synchronize(driver, lock, stream);
    });
}

constexpr auto kNow = Return::WhenDone;
constexpr auto kLater = Return::AtOnce;

}  // namespace

BERTH_TWIN(cuMemcpy, _ptds, copy_any, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes), to,
           from, bytes, nullptr, kNow)
BERTH_TWIN(cuMemcpyAsync, _ptsz, copy_any,
           (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream), to, from, bytes,
           stream, kLater)
BERTH_TWIN(cuMemcpyPeer, _ptds, copy_peer,
           (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
            std::size_t bytes),
           to, to_context, from, from_context, bytes, nullptr, kNow)
BERTH_TWIN(cuMemcpyPeerAsync, _ptsz, copy_peer,
           (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
            std::size_t bytes, CUstream stream),
           to, to_context, from, from_context, bytes, stream, kLater)
BERTH_TWIN(cuMemcpyHtoD_v2, _ptds, copy_to_device,
           (CUdeviceptr to, const void* from, std::size_t bytes), to, from, bytes, nullptr, kNow)
BERTH_TWIN(cuMemcpyHtoDAsync_v2, _ptsz, copy_to_device,
           (CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream), to, from, bytes,
           stream, kLater)
BERTH_TWIN(cuMemcpyDtoH_v2, _ptds, copy_to_host, (void* to, CUdeviceptr from, std::size_t bytes),
           to, from, bytes, nullptr, kNow)
BERTH_TWIN(cuMemcpyDtoHAsync_v2, _ptsz, copy_to_host,
           (void* to, CUdeviceptr from, std::size_t bytes, CUstream stream), to, from, bytes,
           stream, kLater)
BERTH_TWIN(cuMemcpyDtoD_v2, _ptds, copy_within,
           (CUdeviceptr to, CUdeviceptr from, std::size_t bytes), to, from, bytes, nullptr, kNow)
BERTH_TWIN(cuMemcpyDtoDAsync_v2, _ptsz, copy_within,
           (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream), to, from, bytes,
           stream, kLater)
BERTH_TWIN(cuMemcpy2D_v2, _ptds, copy_area, (const CUDA_MEMCPY2D* copy), copy, nullptr, kNow)
BERTH_TWIN(cuMemcpy2DUnaligned_v2, _ptds, copy_area, (const CUDA_MEMCPY2D* copy), copy, nullptr,
           kNow)
BERTH_TWIN(cuMemcpy2DAsync_v2, _ptsz, copy_area, (const CUDA_MEMCPY2D* copy, CUstream stream), copy,
           stream, kLater)
BERTH_TWIN(cuMemcpy3D_v2, _ptds, copy_box, (const CUDA_MEMCPY3D* copy), copy, nullptr, kNow)
BERTH_TWIN(cuMemcpy3DAsync_v2, _ptsz, copy_box, (const CUDA_MEMCPY3D* copy, CUstream stream), copy,
           stream, kLater)
BERTH_TWIN(cuMemsetD8_v2, _ptds, fill, (CUdeviceptr to, unsigned char value, std::size_t count), to,
           0, Fill{value, 1}, count, 1, nullptr, kNow)
BERTH_TWIN(cuMemsetD8Async, _ptsz, fill,
           (CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream), to, 0,
           Fill{value, 1}, count, 1, stream, kLater)
BERTH_TWIN(cuMemsetD16_v2, _ptds, fill, (CUdeviceptr to, unsigned short value, std::size_t count),
           to, 0, Fill{value, 2}, count, 1, nullptr, kNow)
BERTH_TWIN(cuMemsetD16Async, _ptsz, fill,
           (CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream), to, 0,
           Fill{value, 2}, count, 1, stream, kLater)
BERTH_TWIN(cuMemsetD32_v2, _ptds, fill, (CUdeviceptr to, unsigned int value, std::size_t count), to,
           0, Fill{value, 4}, count, 1, nullptr, kNow)
BERTH_TWIN(cuMemsetD32Async, _ptsz, fill,
           (CUdeviceptr to, unsigned int value, std::size_t count, CUstream stream), to, 0,
           Fill{value, 4}, count, 1, stream, kLater)
BERTH_TWIN(cuMemsetD2D8_v2, _ptds, fill,
           (CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
            std::size_t height),
           to, pitch, Fill{value, 1}, width, height, nullptr, kNow)
BERTH_TWIN(cuMemsetD2D8Async, _ptsz, fill,
           (CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
            std::size_t height, CUstream stream),
           to, pitch, Fill{value, 1}, width, height, stream, kLater)
BERTH_TWIN(cuStreamWriteValue32_v2, _ptsz, fill,
           (CUstream stream, CUdeviceptr to, cuuint32_t value, unsigned int), to, 0, Fill{value, 4},
           1, 1, stream, kLater)
