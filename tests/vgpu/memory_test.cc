// SPDX-License-Identifier: Apache-2.0
//
// Every door through which memory is taken is counted, and what is given back is free again.
#include <doctest/doctest.h>

#include <vector>

#include "vgpu/api.h"

using namespace berth::test_vgpu;

namespace {

CUmemAllocationProp on_device(int device) {
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    return prop;
}

cuuint64_t pool_number(CUmemoryPool pool, CUmemPool_attribute attribute) {
    cuuint64_t number = 0;
    CHECK(cuda().cuMemPoolGetAttribute(pool, attribute, &number) == CUDA_SUCCESS);
    return number;
}

}  // namespace

TEST_CASE("a context costs memory, once for a device's primary context, until it is reset") {
    if (!is_software()) return;
    const PrimaryContext context;
    CHECK(used_bytes() == kContextBytes);
    CUcontext again = nullptr;
    CHECK(cuda().cuDevicePrimaryCtxRetain(&again, 0) == CUDA_SUCCESS);
    CHECK(used_bytes() == kContextBytes);
    int active = 0;
    CHECK(cuda().cuDevicePrimaryCtxGetState(0, nullptr, &active) == CUDA_SUCCESS);
    CHECK(active == 1);
    CHECK(cuda().cuDevicePrimaryCtxReset(0) == CUDA_SUCCESS);
    CHECK(cuda().cuDevicePrimaryCtxGetState(0, nullptr, &active) == CUDA_SUCCESS);
    CHECK(active == 0);
}

TEST_CASE("large allocations take whole pages, small ones share one") {
    const PrimaryContext context;
    const std::uint64_t before = used_bytes();
    CUdeviceptr large = 0;
    REQUIRE(cuda().cuMemAlloc(&large, 3 * kMiB) == CUDA_SUCCESS);
    CHECK(used_bytes() - before == 4 * kMiB);
    CUdeviceptr one = 0;
    CUdeviceptr two = 0;
    REQUIRE(cuda().cuMemAlloc(&one, 1000) == CUDA_SUCCESS);
    REQUIRE(cuda().cuMemAlloc(&two, 1000) == CUDA_SUCCESS);
    CHECK(used_bytes() - before == 6 * kMiB);
    CHECK(one % 256 == 0);
    CHECK(two % 256 == 0);
    for (const CUdeviceptr pointer : {large, one, two})
        CHECK(cuda().cuMemFree(pointer) == CUDA_SUCCESS);
    CHECK(used_bytes() == before);
}

TEST_CASE("no more is given than there is, and what failed costs nothing") {
    const PrimaryContext context;
    std::size_t free = 0;
    std::size_t total = 0;
    REQUIRE(cuda().cuMemGetInfo(&free, &total) == CUDA_SUCCESS);
    CUdeviceptr pointer = 0;
    CHECK(cuda().cuMemAlloc(&pointer, total + kMiB) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(cuda().cuMemAlloc(&pointer, free + 2 * kMiB) == CUDA_ERROR_OUT_OF_MEMORY);
    std::size_t free_after = 0;
    REQUIRE(cuda().cuMemGetInfo(&free_after, nullptr) == CUDA_SUCCESS);
    CHECK(free_after == free);
    if (!is_software()) return;
    CHECK(cuda().cuMemAlloc(&pointer, free) == CUDA_SUCCESS);
    CHECK(cuda().cuMemFree(pointer) == CUDA_SUCCESS);
}

TEST_CASE("what the API lets be NULL may be NULL") {
    const PrimaryContext context;
    CHECK(cuda().cuMemGetInfo(nullptr, nullptr) == CUDA_SUCCESS);
    CUdeviceptr pointer = 0;
    REQUIRE(cuda().cuMemAlloc(&pointer, 100) == CUDA_SUCCESS);
    CHECK(cuda().cuMemGetAddressRange(nullptr, nullptr, pointer) == CUDA_SUCCESS);
    std::size_t bytes = 0;
    CHECK(cuda().cuMemGetAddressRange(nullptr, &bytes, pointer + 5) == CUDA_SUCCESS);
    CHECK(bytes == 100);
    CHECK(cuda().cuMemFree(0) == CUDA_SUCCESS);
    CHECK(cuda().cuMemFree(pointer) == CUDA_SUCCESS);
    CHECK(cuda().cuCtxGetStreamPriorityRange(nullptr, nullptr) == CUDA_SUCCESS);
    CHECK(cuda().cuDevicePrimaryCtxGetState(0, nullptr, nullptr) == CUDA_SUCCESS);
}

TEST_CASE("nonsense is refused") {
    const PrimaryContext context;
    CUdeviceptr pointer = 0;
    CHECK(cuda().cuMemAlloc(nullptr, 100) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuda().cuMemAlloc(&pointer, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuda().cuMemFree(0x1234) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cuda().cuMemAlloc(&pointer, 4 * kMiB) == CUDA_SUCCESS);
    CHECK(cuda().cuMemFree(pointer + 512) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuda().cuMemFree(pointer) == CUDA_SUCCESS);
    CHECK(cuda().cuMemFree(pointer) == CUDA_ERROR_INVALID_VALUE);
    int value = 0;
    CHECK(cuda().cuDeviceGet(&value, 99) == CUDA_ERROR_INVALID_DEVICE);
}

TEST_CASE("without a context there is no memory") {
    CUdeviceptr pointer = 0;
    CHECK(cuda().cuMemAlloc(&pointer, 100) == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("pitched and managed memory and arrays are counted") {
    if (!is_software()) return;
    const PrimaryContext context;
    const std::uint64_t before = used_bytes();
    CUdeviceptr pitched = 0;
    std::size_t pitch = 0;
    REQUIRE(cuda().cuMemAllocPitch(&pitched, &pitch, 1000, 10000, 4) == CUDA_SUCCESS);
    CHECK(pitch == 1024);
    CHECK(used_bytes() - before == 10 * kMiB);
    CUdeviceptr managed = 0;
    REQUIRE(cuda().cuMemAllocManaged(&managed, 4 * kMiB, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
    CHECK(used_bytes() - before == 14 * kMiB);
    *reinterpret_cast<volatile int*>(managed) = 5;
    CUarray array = nullptr;
    const CUDA_ARRAY3D_DESCRIPTOR cube = {256, 256, 16, CU_AD_FORMAT_FLOAT, 1, 0};
    REQUIRE(cuda().cuArray3DCreate(&array, &cube) == CUDA_SUCCESS);
    CHECK(used_bytes() - before == 18 * kMiB);
    CUmipmappedArray levels = nullptr;
    const CUDA_ARRAY3D_DESCRIPTOR image = {1024, 1024, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    REQUIRE(cuda().cuMipmappedArrayCreate(&levels, &image, 3) == CUDA_SUCCESS);
    CHECK(used_bytes() - before == 24 * kMiB);
    CHECK(cuda().cuMemFree(pitched) == CUDA_SUCCESS);
    CHECK(cuda().cuMemFree(managed) == CUDA_SUCCESS);
    CHECK(cuda().cuArrayDestroy(array) == CUDA_SUCCESS);
    CHECK(cuda().cuMipmappedArrayDestroy(levels) == CUDA_SUCCESS);
    CHECK(used_bytes() == before);
}

TEST_CASE("code of a module is counted, and what belongs to a context goes with it") {
    const PrimaryContext context;
    const std::uint64_t before = used_bytes();
    CUmodule module = nullptr;
    REQUIRE(cuda().cuModuleLoadData(&module, kernels()) == CUDA_SUCCESS);
    if (is_software()) CHECK(used_bytes() - before == 2 * kMiB);
    CUdeviceptr pointer = 0;
    REQUIRE(cuda().cuMemAlloc(&pointer, 100 * kMiB) == CUDA_SUCCESS);
    CHECK(cuda().cuDevicePrimaryCtxReset(0) == CUDA_SUCCESS);
    const PrimaryContext other;
    if (is_software()) CHECK(used_bytes() == before);
    CHECK(cuda().cuMemFree(pointer) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("physical memory by handle lives until its last handle and mapping are gone") {
    const PrimaryContext context;
    const std::uint64_t before = used_bytes();
    const CUmemAllocationProp prop = on_device(0);
    std::size_t unit = 0;
    REQUIRE(cuda().cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM) ==
            CUDA_SUCCESS);
    CUmemGenericAllocationHandle handle = 0;
    REQUIRE(cuda().cuMemCreate(&handle, 4 * unit, &prop, 0) == CUDA_SUCCESS);
    CHECK(used_bytes() - before == 4 * unit);
    CUdeviceptr pointer = 0;
    REQUIRE(cuda().cuMemAddressReserve(&pointer, 8 * unit, 0, 0, 0) == CUDA_SUCCESS);
    CHECK(used_bytes() - before == 4 * unit);
    REQUIRE(cuda().cuMemMap(pointer + unit, 4 * unit, 0, handle, 0) == CUDA_SUCCESS);
    const CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CHECK(cuda().cuMemSetAccess(pointer + unit, 4 * unit, &access, 1) == CUDA_SUCCESS);
    CHECK(cuda().cuMemRelease(handle) == CUDA_SUCCESS);
    CHECK(used_bytes() - before == 4 * unit);
    std::uint32_t word = 0;
    CHECK(cuda().cuMemsetD32(pointer + 2 * unit, 77, unit / 4) == CUDA_SUCCESS);
    CHECK(cuda().cuMemcpyDtoH(&word, pointer + 3 * unit - 4, 4) == CUDA_SUCCESS);
    CHECK(word == 77);
    CUmemGenericAllocationHandle retained = 0;
    CHECK(cuda().cuMemRetainAllocationHandle(&retained, reinterpret_cast<void*>(pointer + unit)) ==
          CUDA_SUCCESS);
    CHECK(cuda().cuMemUnmap(pointer + unit, 4 * unit) == CUDA_SUCCESS);
    CHECK(used_bytes() - before == 4 * unit);
    CHECK(cuda().cuMemRelease(retained) == CUDA_SUCCESS);
    CHECK(used_bytes() == before);
    CHECK(cuda().cuMemAddressFree(pointer, 8 * unit) == CUDA_SUCCESS);
}

TEST_CASE("two mappings of one handle show the same bytes") {
    const PrimaryContext context;
    const CUmemAllocationProp prop = on_device(0);
    const std::size_t unit = 2 * kMiB;
    CUmemGenericAllocationHandle handle = 0;
    REQUIRE(cuda().cuMemCreate(&handle, unit, &prop, 0) == CUDA_SUCCESS);
    CUdeviceptr pointer = 0;
    REQUIRE(cuda().cuMemAddressReserve(&pointer, 2 * unit, 0, 0, 0) == CUDA_SUCCESS);
    const CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    for (const CUdeviceptr at : {pointer, pointer + unit})
        REQUIRE(cuda().cuMemMap(at, unit, 0, handle, 0) == CUDA_SUCCESS);
    REQUIRE(cuda().cuMemSetAccess(pointer, 2 * unit, &access, 1) == CUDA_SUCCESS);
    CHECK(cuda().cuMemsetD32(pointer, 123, 4) == CUDA_SUCCESS);
    std::uint32_t word = 0;
    CHECK(cuda().cuMemcpyDtoH(&word, pointer + unit + 12, 4) == CUDA_SUCCESS);
    CHECK(word == 123);
    CHECK(cuda().cuMemUnmap(pointer, 2 * unit) == CUDA_SUCCESS);
    CHECK(cuda().cuMemRelease(handle) == CUDA_SUCCESS);
    CHECK(cuda().cuMemAddressFree(pointer, 2 * unit) == CUDA_SUCCESS);
}

TEST_CASE("a copy, a fill and a kernel go on from one mapping to the next, and not past the last") {
    const PrimaryContext context;
    const CUmemAllocationProp prop = on_device(0);
    const std::size_t unit = 2 * kMiB;
    CUdeviceptr pointer = 0;
    REQUIRE(cuda().cuMemAddressReserve(&pointer, 3 * unit, 0, 0, 0) == CUDA_SUCCESS);
    const CUmemAccessDesc access = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    for (const CUdeviceptr at : {pointer, pointer + unit}) {
        CUmemGenericAllocationHandle handle = 0;
        REQUIRE(cuda().cuMemCreate(&handle, unit, &prop, 0) == CUDA_SUCCESS);
        REQUIRE(cuda().cuMemMap(at, unit, 0, handle, 0) == CUDA_SUCCESS);
        CHECK(cuda().cuMemRelease(handle) == CUDA_SUCCESS);
    }
    REQUIRE(cuda().cuMemSetAccess(pointer, 2 * unit, &access, 1) == CUDA_SUCCESS);
    CHECK(cuda().cuMemsetD32(pointer, 5, 2 * unit / 4) == CUDA_SUCCESS);
    const std::vector<std::uint32_t> sent = {1, 2, 3, 4};
    std::vector<std::uint32_t> got(4);
    CHECK(cuda().cuMemcpyHtoD(pointer + unit - 8, sent.data(), 16) == CUDA_SUCCESS);
    CHECK(cuda().cuMemcpyDtoH(got.data(), pointer + unit - 8, 16) == CUDA_SUCCESS);
    CHECK(got == sent);
    CHECK(cuda().cuMemcpyDtoH(got.data(), pointer + 2 * unit - 16, 16) == CUDA_SUCCESS);
    CHECK(got == std::vector<std::uint32_t>{5, 5, 5, 5});
    CHECK(cuda().cuMemcpyDtoH(got.data(), pointer + 2 * unit - 8, 16) == CUDA_ERROR_INVALID_VALUE);

    CUmodule module = nullptr;
    CUfunction add1 = nullptr;
    REQUIRE(cuda().cuModuleLoadData(&module, kernels()) == CUDA_SUCCESS);
    REQUIRE(cuda().cuModuleGetFunction(&add1, module, "berth_add1") == CUDA_SUCCESS);
    CUdeviceptr words = pointer + unit - 8;
    std::uint32_t count = 4;
    void* parameters[] = {&words, &count};
    CHECK(cuda().cuLaunchKernel(add1, 1, 1, 1, 4, 1, 1, 0, nullptr, parameters, nullptr) ==
          CUDA_SUCCESS);
    CHECK(cuda().cuMemcpyDtoH(got.data(), words, 16) == CUDA_SUCCESS);
    CHECK(got == std::vector<std::uint32_t>{2, 3, 4, 5});
    CHECK(cuda().cuMemUnmap(pointer, 2 * unit) == CUDA_SUCCESS);
    CHECK(cuda().cuMemAddressFree(pointer, 3 * unit) == CUDA_SUCCESS);
}

TEST_CASE("a pool keeps what is freed up to its release threshold") {
    const PrimaryContext context;
    CUmemoryPool pool = nullptr;
    REQUIRE(cuda().cuDeviceGetDefaultMemPool(&pool, 0) == CUDA_SUCCESS);
    const std::uint64_t before = used_bytes();
    CUdeviceptr pointer = 0;
    REQUIRE(cuda().cuMemAllocAsync(&pointer, 40 * kMiB, nullptr) == CUDA_SUCCESS);
    CHECK(pool_number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 40 * kMiB);
    const cuuint64_t reserved = pool_number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    CHECK(reserved >= 40 * kMiB);
    CHECK(used_bytes() - before == reserved);
    cuuint64_t all = ~0ULL;
    CHECK(cuda().cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all) ==
          CUDA_SUCCESS);
    CHECK(cuda().cuMemFreeAsync(pointer, nullptr) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamSynchronize(nullptr) == CUDA_SUCCESS);
    CHECK(pool_number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 0);
    CHECK(used_bytes() - before == reserved);
    CHECK(cuda().cuMemPoolTrimTo(pool, 0) == CUDA_SUCCESS);
    CHECK(used_bytes() == before);
    cuuint64_t none = 0;
    CHECK(cuda().cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &none) ==
          CUDA_SUCCESS);
    REQUIRE(cuda().cuMemAllocAsync(&pointer, 40 * kMiB, nullptr) == CUDA_SUCCESS);
    CHECK(cuda().cuMemFreeAsync(pointer, nullptr) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamSynchronize(nullptr) == CUDA_SUCCESS);
    CHECK(used_bytes() == before);
}

TEST_CASE("a pool of one's own has a size that it does not pass") {
    const PrimaryContext context;
    CUmemPoolProps props = {};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    props.maxSize = 64 * kMiB;
    CUmemoryPool pool = nullptr;
    REQUIRE(cuda().cuMemPoolCreate(&pool, &props) == CUDA_SUCCESS);
    CUdeviceptr pointer = 0;
    CHECK(cuda().cuMemAllocFromPoolAsync(&pointer, 32 * kMiB, pool, nullptr) == CUDA_SUCCESS);
    CUdeviceptr more = 0;
    CHECK(cuda().cuMemAllocFromPoolAsync(&more, 64 * kMiB, pool, nullptr) ==
          CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(cuda().cuMemFreeAsync(pointer, nullptr) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamSynchronize(nullptr) == CUDA_SUCCESS);
    CHECK(cuda().cuMemPoolDestroy(pool) == CUDA_SUCCESS);
}

TEST_CASE("memory past what has contents is counted, takes copies and reads as zeros") {
    if (!is_software()) return;
    const PrimaryContext context;
    CUdeviceptr first = 0;
    CUdeviceptr second = 0;
    REQUIRE(cuda().cuMemAlloc(&first, 1000 * kMiB) == CUDA_SUCCESS);
    REQUIRE(cuda().cuMemAlloc(&second, 100 * kMiB) == CUDA_SUCCESS);
    std::uint32_t word = 9;
    CHECK(cuda().cuMemsetD32(second, 7, 1024) == CUDA_SUCCESS);
    CHECK(cuda().cuMemcpyDtoH(&word, second, 4) == CUDA_SUCCESS);
    CHECK(word == 0);
    CHECK(cuda().cuMemsetD32(first, 7, 1024) == CUDA_SUCCESS);
    CHECK(cuda().cuMemcpyDtoH(&word, first, 4) == CUDA_SUCCESS);
    CHECK(word == 7);
}

TEST_CASE("what NVML says is what the driver says") {
    const PrimaryContext context;
    CUdeviceptr pointer = 0;
    REQUIRE(cuda().cuMemAlloc(&pointer, 64 * kMiB) == CUDA_SUCCESS);
    nvmlMemory_t memory = {};
    const auto memory_info = nvml<decltype(nvmlDeviceGetMemoryInfo)>("nvmlDeviceGetMemoryInfo");
    REQUIRE(memory_info(nvml_device(), &memory) == NVML_SUCCESS);
    std::size_t free = 0;
    REQUIRE(cuda().cuMemGetInfo(&free, nullptr) == CUDA_SUCCESS);
    CHECK(memory.free == free);
    CHECK(memory.total == memory.used + memory.free);
    nvmlMemory_v2_t detailed = {};
    const auto memory_info_v2 =
        nvml<decltype(nvmlDeviceGetMemoryInfo_v2)>("nvmlDeviceGetMemoryInfo_v2");
    CHECK(memory_info_v2(nvml_device(), &detailed) == NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    detailed.version = nvml_version<nvmlMemory_v2_t>(2);
    REQUIRE(memory_info_v2(nvml_device(), &detailed) == NVML_SUCCESS);
    CHECK(detailed.total == detailed.reserved + detailed.used + detailed.free);
}
