// SPDX-License-Identifier: Apache-2.0
//
// CUDA arrays, plain and mipmapped.
#include <algorithm>

#include "vgpu/software_driver/driver.h"
#include "vgpu/software_driver/memory/allocate.h"

using namespace berth::vgpu::software_driver;

namespace {

// 0 for what is no format.
std::size_t format_bytes(CUarray_format format) {
    switch (format) {
        case CU_AD_FORMAT_UNSIGNED_INT8:
        case CU_AD_FORMAT_SIGNED_INT8: return 1;
        case CU_AD_FORMAT_UNSIGNED_INT16:
        case CU_AD_FORMAT_SIGNED_INT16:
        case CU_AD_FORMAT_HALF: return 2;
        case CU_AD_FORMAT_UNSIGNED_INT32:
        case CU_AD_FORMAT_SIGNED_INT32:
        case CU_AD_FORMAT_FLOAT: return 4;
    }
    return 0;
}

bool is_valid(const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    const unsigned int channels = descriptor.NumChannels;
    return descriptor.Width != 0 && format_bytes(descriptor.Format) != 0 &&
           (channels == 1 || channels == 2 || channels == 4);
}

Array describe(const Context& context, const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    Array array;
    array.context = &context;
    array.descriptor = descriptor;
    array.element_bytes = format_bytes(descriptor.Format) * descriptor.NumChannels;
    return array;
}

CUarray handle_of(Array* array) { return reinterpret_cast<CUarray>(array); }

CUresult create(CUarray* to, const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
    return enter_context([&](Driver& driver, Context& context, Lock&) {
        if (to == nullptr || !is_valid(descriptor)) return CUDA_ERROR_INVALID_VALUE;
        auto array = std::make_unique<Array>(describe(context, descriptor));
        array->pointer = allocate(driver, context, array->bytes());
        if (array->pointer == 0) return CUDA_ERROR_OUT_OF_MEMORY;
        *to = handle_of(driver.arrays.add(std::move(array)));
        return CUDA_SUCCESS;
    });
}

void free_pointer(Driver& driver, CUdeviceptr pointer) {
    if (const Allocation* found = driver.memory.find(pointer); found != nullptr)
        deallocate(driver, *found);
}

// Each level is half of the one before, and at least 1.
CUDA_ARRAY3D_DESCRIPTOR level_of(CUDA_ARRAY3D_DESCRIPTOR descriptor, unsigned int level) {
    for (std::size_t* size : {&descriptor.Width, &descriptor.Height, &descriptor.Depth})
        if (*size != 0) *size = std::max<std::size_t>(1, *size >> level);
    return descriptor;
}

}  // namespace

CUresult cuArrayCreate_v2(CUarray* to, const CUDA_ARRAY_DESCRIPTOR* descriptor) {
    if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return create(to, {descriptor->Width, descriptor->Height, 0, descriptor->Format,
                       descriptor->NumChannels, 0});
}

CUresult cuArray3DCreate_v2(CUarray* to, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
    if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return create(to, *descriptor);
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* to, CUarray handle) {
    return enter_context([&](Driver& driver, Context&, Lock&) {
        const Array* array = driver.arrays.find(handle);
        if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const CUDA_ARRAY3D_DESCRIPTOR& own = array->descriptor;
        *to = {own.Width, own.Height, own.Format, own.NumChannels};
        return CUDA_SUCCESS;
    });
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* to, CUarray handle) {
    return enter_context([&](Driver& driver, Context&, Lock&) {
        const Array* array = driver.arrays.find(handle);
        if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *to = array->descriptor;
        return CUDA_SUCCESS;
    });
}

CUresult cuArrayDestroy(CUarray handle) {
    return enter_context([&](Driver& driver, Context& context, Lock& lock) {
        const Array* array = driver.arrays.find(handle);
        if (array == nullptr || array->is_level) return CUDA_ERROR_INVALID_HANDLE;
        synchronize_all(driver, lock, context);
        free_pointer(driver, array->pointer);
        driver.arrays.remove(handle);
        return CUDA_SUCCESS;
    });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* to, const CUDA_ARRAY3D_DESCRIPTOR* descriptor,
                                unsigned int levels) {
    return enter_context([&](Driver& driver, Context& context, Lock&) {
        if (to == nullptr || descriptor == nullptr || !is_valid(*descriptor) || levels == 0 ||
            levels > 32)
            return CUDA_ERROR_INVALID_VALUE;
        std::vector<std::unique_ptr<Array>> arrays;
        std::size_t bytes = 0;
        for (unsigned int level = 0; level < levels; ++level) {
            arrays.push_back(
                std::make_unique<Array>(describe(context, level_of(*descriptor, level))));
            arrays.back()->is_level = true;
            bytes += arrays.back()->bytes();
        }
        const CUdeviceptr pointer = allocate(driver, context, bytes);
        if (pointer == 0) return CUDA_ERROR_OUT_OF_MEMORY;
        auto mipmapped = std::make_unique<MipmappedArray>();
        mipmapped->context = &context;
        mipmapped->pointer = pointer;
        CUdeviceptr next = pointer;
        for (auto& array : arrays) {
            array->pointer = next;
            next += array->bytes();
            mipmapped->levels.push_back(driver.arrays.add(std::move(array)));
        }
        *to = reinterpret_cast<CUmipmappedArray>(driver.mipmapped_arrays.add(std::move(mipmapped)));
        return CUDA_SUCCESS;
    });
}

CUresult cuMipmappedArrayGetLevel(CUarray* to, CUmipmappedArray handle, unsigned int level) {
    return enter_context([&](Driver& driver, Context&, Lock&) {
        const MipmappedArray* array = driver.mipmapped_arrays.find(handle);
        if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (to == nullptr || level >= array->levels.size()) return CUDA_ERROR_INVALID_VALUE;
        *to = handle_of(array->levels[level]);
        return CUDA_SUCCESS;
    });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
    return enter_context([&](Driver& driver, Context& context, Lock& lock) {
        const MipmappedArray* array = driver.mipmapped_arrays.find(handle);
        if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        synchronize_all(driver, lock, context);
        for (const Array* level : array->levels) driver.arrays.remove(level);
        free_pointer(driver, array->pointer);
        driver.mipmapped_arrays.remove(handle);
        return CUDA_SUCCESS;
    });
}
