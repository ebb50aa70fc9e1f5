// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "vgpu/interposer/job.h"

using namespace vgpu;

namespace {

constexpr std::size_t kObjectBytes = 16 * kMiB;

CUmemGenericAllocationHandle memory_of(const Cuda& cuda) {
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemGenericAllocationHandle handle = 0;
    MUST(CUDA(cuMemCreate)(&handle, kObjectBytes, &prop, 0) == CUDA_SUCCESS);
    return handle;
}

CUmemGenericAllocationHandle multicast_of(const Cuda& cuda) {
    const CUmulticastObjectProp prop{1, 2 * kObjectBytes, 0, 0};
    CUmemGenericAllocationHandle handle = 0;
    MUST(CUDA(cuMulticastCreate)(&handle, &prop) == CUDA_SUCCESS);
    MUST(CUDA(cuMulticastAddDevice)(handle, 0) == CUDA_SUCCESS);
    return handle;
}

}  // namespace

TEST_CASE("a multicast object takes nothing, and what is bound to it stays charged until unbound") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        const CUmemGenericAllocationHandle multicast = multicast_of(cuda);
        MUST(is_charged(node, cuda, 0));
        const CUmemGenericAllocationHandle memory = memory_of(cuda);
        MUST(CUDA(cuMulticastBindMem)(multicast, 0, memory, 0, kObjectBytes, 0) == CUDA_SUCCESS);
        MUST(CUDA(cuMemRelease)(memory) == CUDA_SUCCESS);
        MUST(is_charged(node, cuda, kObjectBytes));
        MUST(CUDA(cuMulticastUnbind)(multicast, 0, kObjectBytes, kObjectBytes) ==
             CUDA_ERROR_INVALID_VALUE);
        MUST(is_charged(node, cuda, kObjectBytes));
        MUST(CUDA(cuMulticastUnbind)(multicast, 0, 0, kObjectBytes) == CUDA_SUCCESS);
        MUST(is_charged(node, cuda, 0));
    }));
}

TEST_CASE("what is bound by address or by handle goes with the multicast object") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        const CUmemGenericAllocationHandle multicast = multicast_of(cuda);
        const CUmemGenericAllocationHandle first = memory_of(cuda);
        const CUmemGenericAllocationHandle second = memory_of(cuda);
        CUdeviceptr address = 0;
        MUST(CUDA(cuMemAddressReserve)(&address, kObjectBytes, 0, 0, 0) == CUDA_SUCCESS);
        MUST(CUDA(cuMemMap)(address, kObjectBytes, 0, first, 0) == CUDA_SUCCESS);
        MUST(CUDA(cuMulticastBindAddr)(multicast, 0, address, kObjectBytes, 0) == CUDA_SUCCESS);
        MUST(CUDA(cuMulticastBindMem)(multicast, kObjectBytes, second, 0, kObjectBytes, 0) ==
             CUDA_SUCCESS);
        MUST(CUDA(cuMemUnmap)(address, kObjectBytes) == CUDA_SUCCESS);
        MUST(CUDA(cuMemRelease)(first) == CUDA_SUCCESS);
        MUST(CUDA(cuMemRelease)(second) == CUDA_SUCCESS);
        MUST(is_charged(node, cuda, 2 * kObjectBytes));
        MUST(CUDA(cuMemRelease)(multicast) == CUDA_SUCCESS);
        MUST(is_charged(node, cuda, 0));
    }));
}

TEST_CASE("what is bound for a device, as since CUDA 13.1, stays charged until unbound from it") {
    const GpuNode node("memory=1G", {}, "memory=4GiB;driver=13.4");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        const auto bind_memory =
            cuda.get<decltype(cuMulticastBindMem_v2)>("cuMulticastBindMem", 13010);
        const auto bind_address =
            cuda.get<decltype(cuMulticastBindAddr_v2)>("cuMulticastBindAddr", 13010);
        const CUmemGenericAllocationHandle multicast = multicast_of(cuda);
        const CUmemGenericAllocationHandle first = memory_of(cuda);
        const CUmemGenericAllocationHandle second = memory_of(cuda);
        CUdeviceptr address = 0;
        MUST(CUDA(cuMemAddressReserve)(&address, kObjectBytes, 0, 0, 0) == CUDA_SUCCESS);
        MUST(CUDA(cuMemMap)(address, kObjectBytes, 0, second, 0) == CUDA_SUCCESS);
        MUST(bind_memory(multicast, 1, 0, first, 0, kObjectBytes, 0) == CUDA_ERROR_INVALID_DEVICE);
        MUST(bind_memory(multicast, 0, 0, first, 0, kObjectBytes, 0) == CUDA_SUCCESS);
        MUST(bind_address(multicast, 0, kObjectBytes, address, kObjectBytes, 0) == CUDA_SUCCESS);
        MUST(CUDA(cuMemUnmap)(address, kObjectBytes) == CUDA_SUCCESS);
        MUST(CUDA(cuMemRelease)(first) == CUDA_SUCCESS);
        MUST(CUDA(cuMemRelease)(second) == CUDA_SUCCESS);
        MUST(is_charged(node, cuda, 2 * kObjectBytes));
        MUST(CUDA(cuMulticastUnbind)(multicast, 0, 0, kObjectBytes) == CUDA_SUCCESS);
        MUST(CUDA(cuMulticastUnbind)(multicast, 0, kObjectBytes, kObjectBytes) == CUDA_SUCCESS);
        MUST(is_charged(node, cuda, 0));
    }));
}

TEST_CASE("a green context is charged as the primary context that it keeps, once") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        MUST(CUDA(cuInit)(0) == CUDA_SUCCESS);
        CUdevResource all{};
        CUdevResourceDesc desc = nullptr;
        MUST(CUDA(cuDeviceGetDevResource)(0, &all, CU_DEV_RESOURCE_TYPE_SM) == CUDA_SUCCESS);
        MUST(all.sm.smCount == 132);
        MUST(CUDA(cuDevResourceGenerateDesc)(&desc, &all, 1) == CUDA_SUCCESS);
        CUgreenCtx one = nullptr;
        CUgreenCtx other = nullptr;
        CUcontext context = nullptr;
        MUST(CUDA(cuGreenCtxCreate)(&one, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM) == CUDA_SUCCESS);
        MUST(CUDA(cuGreenCtxCreate)(&other, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM) == CUDA_SUCCESS);
        MUST(node.charged() == kContext);
        MUST(CUDA(cuCtxFromGreenCtx)(&context, one) == CUDA_SUCCESS);
        MUST(CUDA(cuCtxSetCurrent)(context) == CUDA_SUCCESS);
        MUST(cuda.really_used() == kContext);
        MUST(CUDA(cuDevicePrimaryCtxRetain)(&context, 0) == CUDA_SUCCESS);
        MUST(node.charged() == kContext);
        MUST(CUDA(cuGreenCtxDestroy)(one) == CUDA_SUCCESS);
        MUST(CUDA(cuDevicePrimaryCtxRelease_v2)(0) == CUDA_SUCCESS);
        MUST(node.charged() == kContext);
        MUST(CUDA(cuGreenCtxDestroy)(other) == CUDA_SUCCESS);
        MUST(node.charged() == 0);
        MUST(CUDA(cuGreenCtxDestroy)(other) == CUDA_ERROR_INVALID_CONTEXT);
    }));
}

TEST_CASE("a green context that does not fit is refused") {
    const GpuNode node("memory=32M");
    succeeds(run([&](const Cuda& cuda) {
        MUST(CUDA(cuInit)(0) == CUDA_SUCCESS);
        CUdevResource all{};
        CUdevResourceDesc desc = nullptr;
        MUST(CUDA(cuDeviceGetDevResource)(0, &all, CU_DEV_RESOURCE_TYPE_SM) == CUDA_SUCCESS);
        MUST(CUDA(cuDevResourceGenerateDesc)(&desc, &all, 1) == CUDA_SUCCESS);
        CUgreenCtx green = nullptr;
        MUST(CUDA(cuGreenCtxCreate)(&green, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM) ==
             CUDA_ERROR_OUT_OF_MEMORY);
        MUST(node.charged() == 0);
    }));
}
