// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "vgpu/interposer/job.h"

using namespace vgpu;

namespace {

CUmemAllocationProp on_gpu(int device) {
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    return prop;
}

}  // namespace

TEST_CASE("physical memory is charged from its making until its last handle and mapping are gone") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        constexpr std::size_t kBytes = 64 * kMiB;
        const CUmemAllocationProp prop = on_gpu(0);
        CUmemGenericAllocationHandle handle = 0;
        CUmemGenericAllocationHandle again = 0;
        CUdeviceptr address = 0;
        MUST(CUDA(cuMemCreate)(&handle, kBytes, &prop, 0) == CUDA_SUCCESS);
        MUST(is_charged(node, cuda, kBytes));
        MUST(CUDA(cuMemAddressReserve)(&address, kBytes, 0, 0, 0) == CUDA_SUCCESS);
        MUST(CUDA(cuMemMap)(address, kBytes, 0, handle, 0) == CUDA_SUCCESS);
        MUST(CUDA(cuMemRelease)(handle) == CUDA_SUCCESS);
        MUST(is_charged(node, cuda, kBytes));
        MUST(CUDA(cuMemRetainAllocationHandle)(&again, reinterpret_cast<void*>(address)) ==
             CUDA_SUCCESS);
        MUST(CUDA(cuMemUnmap)(address, kBytes) == CUDA_SUCCESS);
        MUST(is_charged(node, cuda, kBytes));
        MUST(CUDA(cuMemRelease)(again) == CUDA_SUCCESS);
        MUST(is_charged(node, cuda, 0));
    }));
}

TEST_CASE("one call unmaps several mappings") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        constexpr std::size_t kBytes = 8 * kMiB;
        const CUmemAllocationProp prop = on_gpu(0);
        CUdeviceptr address = 0;
        MUST(CUDA(cuMemAddressReserve)(&address, 4 * kBytes, 0, 0, 0) == CUDA_SUCCESS);
        for (std::size_t index = 0; index < 4; ++index) {
            CUmemGenericAllocationHandle handle = 0;
            MUST(CUDA(cuMemCreate)(&handle, kBytes, &prop, 0) == CUDA_SUCCESS);
            MUST(CUDA(cuMemMap)(address + index * kBytes, kBytes, 0, handle, 0) == CUDA_SUCCESS);
            MUST(CUDA(cuMemRelease)(handle) == CUDA_SUCCESS);
        }
        MUST(node.charged() == kContext + 4 * kBytes);
        MUST(CUDA(cuMemUnmap)(address, 4 * kBytes) == CUDA_SUCCESS);
        MUST(node.charged() == kContext);
        MUST(cuda.really_used() == kContext);
    }));
}

TEST_CASE("without a context the device of the request counts") {
    const GpuNode node("memory=100M");
    succeeds(run([&](const Cuda& cuda) {
        MUST(CUDA(cuInit)(0) == CUDA_SUCCESS);
        CUmemGenericAllocationHandle handle = 0;
        const CUmemAllocationProp mine = on_gpu(0);
        const CUmemAllocationProp not_mine = on_gpu(1);
        MUST(CUDA(cuMemCreate)(&handle, 40 * kMiB, &not_mine, 0) == CUDA_ERROR_OUT_OF_MEMORY);
        MUST(CUDA(cuMemCreate)(&handle, 200 * kMiB, &mine, 0) == CUDA_ERROR_OUT_OF_MEMORY);
        MUST(CUDA(cuMemCreate)(&handle, 40 * kMiB, &mine, 0) == CUDA_SUCCESS);
        MUST(node.charged() == 40 * kMiB);
    }));
}
