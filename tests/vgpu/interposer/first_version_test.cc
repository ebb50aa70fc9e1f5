// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "vgpu/interposer/job.h"

using namespace vgpu;

namespace {

// As a program asks that was built before CUDA 3.2.
template <class Function>
Function* first(const Cuda& cuda, const char* name) {
    return cuda.get<Function>(name, 3000);
}
#define FIRST(name) first<decltype(name)>(cuda, #name)

}  // namespace

TEST_CASE("first versions of allocations are charged to the byte, and refused past the limit") {
    const GpuNode node("memory=256M");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUdeviceptr_v1 one = 0;
        CUdeviceptr_v1 rows = 0;
        CUdeviceptr_v1 more = 0;
        unsigned int pitch = 0;
        MUST(FIRST(cuMemAlloc)(&one, 64 * kMiB) == CUDA_SUCCESS);
        MUST(one != 0);
        MUST(is_charged(node, cuda, 64 * kMiB));
        MUST(FIRST(cuMemAllocPitch)(&rows, &pitch, 1000, 2048, 4) == CUDA_SUCCESS);
        MUST(pitch == 1024);
        MUST(is_charged(node, cuda, 66 * kMiB));
        MUST(FIRST(cuMemAlloc)(&more, 200 * kMiB) == CUDA_ERROR_OUT_OF_MEMORY);
        MUST(FIRST(cuMemAllocPitch)(&more, &pitch, 1 << 20, 200, 4) == CUDA_ERROR_OUT_OF_MEMORY);
        MUST(is_charged(node, cuda, 66 * kMiB));
        MUST(FIRST(cuMemFree)(rows) == CUDA_SUCCESS);
        MUST(FIRST(cuMemFree)(one) == CUDA_SUCCESS);
        MUST(is_charged(node, cuda, 0));
        MUST(FIRST(cuMemAlloc)(nullptr, 1) == CUDA_ERROR_INVALID_VALUE);
        MUST(is_charged(node, cuda, 0));
    }));
}

TEST_CASE("first versions of contexts and arrays are charged") {
    const GpuNode node("memory=256M");
    succeeds(run([&](const Cuda& cuda) {
        MUST(CUDA(cuInit)(0) == CUDA_SUCCESS);
        CUcontext context = nullptr;
        CUarray array = nullptr;
        MUST(FIRST(cuCtxCreate)(&context, 0, 0) == CUDA_SUCCESS);
        MUST(node.charged() == kContext);
        const CUDA_ARRAY_DESCRIPTOR_v1 flat{1024, 1024, CU_AD_FORMAT_FLOAT, 4};
        MUST(FIRST(cuArrayCreate)(&array, &flat) == CUDA_SUCCESS);
        MUST(node.charged() == kContext + 16 * kMiB);
        MUST(CUDA(cuArrayDestroy)(array) == CUDA_SUCCESS);
        const CUDA_ARRAY3D_DESCRIPTOR_v1 cube{256, 256, 64, CU_AD_FORMAT_FLOAT, 4, 0};
        MUST(FIRST(cuArray3DCreate)(&array, &cube) == CUDA_SUCCESS);
        MUST(node.charged() == kContext + 64 * kMiB);
        MUST(FIRST(cuCtxDestroy)(context) == CUDA_SUCCESS);
        MUST(node.charged() == 0);
    }));
}

TEST_CASE("first versions of the queries show the limit, in 32 bits") {
    const GpuNode node("memory=256M");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        unsigned int free = 0;
        unsigned int total = 0;
        MUST(FIRST(cuMemGetInfo)(&free, &total) == CUDA_SUCCESS);
        MUST(total == 256 * kMiB);
        MUST(free == 192 * kMiB);
        MUST(FIRST(cuDeviceTotalMem)(&total, 0) == CUDA_SUCCESS);
        MUST(total == 256 * kMiB);
    }));
    GpuNode::be_nobody();
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        unsigned int total = 0;
        MUST(FIRST(cuMemGetInfo)(nullptr, &total) == CUDA_SUCCESS);
        MUST(total == ~0U);  // more than it can say
    }));
}
