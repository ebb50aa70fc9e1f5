// SPDX-License-Identifier: Apache-2.0
#include "vgpu/software_driver/work/box_copy.h"

#include "vgpu/software_driver/driver.h"

namespace berth::vgpu::software_driver {
namespace {

// One end of a copy as the API describes it.
struct End {
    CUmemorytype type;
    const void* host;
    CUdeviceptr device;
    CUarray array;
    std::size_t x_bytes;
    std::size_t y;
    std::size_t z;
    std::size_t pitch;
    std::size_t height;
};

CUresult read_end(Driver& driver, const End& end, const Box& box, Place& place) {
    const std::size_t pitch = end.pitch != 0 ? end.pitch : box.width;
    const std::size_t height = end.height != 0 ? end.height : box.rows;
    switch (end.type) {
        case CU_MEMORYTYPE_HOST: place = host_place(end.host, pitch, height); break;
        case CU_MEMORYTYPE_DEVICE: place = device_place(end.device, pitch, height); break;
        case CU_MEMORYTYPE_UNIFIED:
            place = any_place(driver, end.device);
            place.pitch = pitch;
            place.layer_rows = height;
            break;
        case CU_MEMORYTYPE_ARRAY: {
            const Array* array = driver.arrays.find(end.array);
            if (array == nullptr) return CUDA_ERROR_INVALID_VALUE;
            place = device_place(array->pointer, array->row_bytes(), array->rows());
            break;
        }
        default: return CUDA_ERROR_INVALID_VALUE;
    }
    if (place.address == 0) return CUDA_ERROR_INVALID_VALUE;
    place.address += (end.z * place.layer_rows + end.y) * place.pitch + end.x_bytes;
    return CUDA_SUCCESS;
}

}  // namespace

CUresult read_copy(Driver& driver, const CUDA_MEMCPY3D& parameters, Copy& copy) {
    const CUDA_MEMCPY3D& p = parameters;
    copy.box = {p.WidthInBytes, p.Height, p.Depth};
    const End from = {p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes,
                      p.srcY,          p.srcZ,    p.srcPitch,  p.srcHeight};
    const End to = {p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes,
                    p.dstY,          p.dstZ,    p.dstPitch,  p.dstHeight};
    if (const CUresult result = read_end(driver, from, copy.box, copy.from); result != CUDA_SUCCESS)
        return result;
    return read_end(driver, to, copy.box, copy.to);
}

CUDA_MEMCPY3D widened(const CUDA_MEMCPY2D& parameters) {
    CUDA_MEMCPY3D wide = {};
    wide.srcXInBytes = parameters.srcXInBytes;
    wide.srcY = parameters.srcY;
    wide.srcMemoryType = parameters.srcMemoryType;
    wide.srcHost = parameters.srcHost;
    wide.srcDevice = parameters.srcDevice;
    wide.srcArray = parameters.srcArray;
    wide.srcPitch = parameters.srcPitch;
    wide.dstXInBytes = parameters.dstXInBytes;
    wide.dstY = parameters.dstY;
    wide.dstMemoryType = parameters.dstMemoryType;
    wide.dstHost = parameters.dstHost;
    wide.dstDevice = parameters.dstDevice;
    wide.dstArray = parameters.dstArray;
    wide.dstPitch = parameters.dstPitch;
    wide.WidthInBytes = parameters.WidthInBytes;
    wide.Height = parameters.Height;
    wide.Depth = 1;
    return wide;
}

}  // namespace berth::vgpu::software_driver
