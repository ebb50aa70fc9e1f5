// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <signal.h>

#include "vgpu/interposer/job.h"

using namespace vgpu;

TEST_CASE("a GPU looks as large as the limit and as full as its tenant made it") {
    const GpuNode node("memory=1G");
    const pid_t neighbour = start([&] {
        const Cuda cuda;
        cuda.use_device();
        CUdeviceptr pointer = 0;
        MUST(CUDA(cuMemAlloc_v2)(&pointer, 100 * kMiB) == CUDA_SUCCESS);
        pause_ms(kPatience / 1'000'000);
        return 0;
    });
    CHECK(eventually([&] { return node.charged() == kContext + 100 * kMiB; }));
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        std::size_t free = 0;
        std::size_t total = 0;
        MUST(CUDA(cuMemGetInfo_v2)(&free, &total) == CUDA_SUCCESS);
        MUST(total == 1024 * kMiB);
        MUST(free == 1024 * kMiB - 2 * kContext - 100 * kMiB);
        MUST(CUDA(cuDeviceTotalMem_v2)(&total, 0) == CUDA_SUCCESS);
        MUST(total == 1024 * kMiB);
        node.order("set job memory=200M");
        MUST(CUDA(cuMemGetInfo_v2)(&free, &total) == CUDA_SUCCESS);
        MUST(total == 200 * kMiB);
        MUST(free == 0);
    }));
    ::kill(neighbour, SIGKILL);
    CHECK(end_of(neighbour) == 128 + SIGKILL);
}

TEST_CASE("no more looks free than the GPU has, however high the limit") {
    const GpuNode node("memory=100G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        std::size_t free = 0;
        std::size_t total = 0;
        MUST(CUDA(cuMemGetInfo_v2)(&free, &total) == CUDA_SUCCESS);
        MUST(total == 4096 * kMiB);
        MUST(free == 4096 * kMiB - kContext);
    }));
}

TEST_CASE("any out-pointer of a view may be null") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        std::size_t bytes = 0;
        MUST(CUDA(cuMemGetInfo_v2)(&bytes, nullptr) == CUDA_SUCCESS);
        MUST(bytes == 1024 * kMiB - kContext);
        MUST(CUDA(cuMemGetInfo_v2)(nullptr, &bytes) == CUDA_SUCCESS);
        MUST(bytes == 1024 * kMiB);
        MUST(CUDA(cuMemGetInfo_v2)(nullptr, nullptr) == CUDA_SUCCESS);
    }));
}

TEST_CASE("what the driver refuses for a null pointer stays refused and charges nothing") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUdeviceptr pointer = 0;
        std::size_t pitch = 0;
        MUST(CUDA(cuMemAlloc_v2)(nullptr, kMiB) == CUDA_ERROR_INVALID_VALUE);
        MUST(CUDA(cuMemAlloc_v2)(&pointer, 0) == CUDA_ERROR_INVALID_VALUE);
        MUST(CUDA(cuMemAllocPitch_v2)(&pointer, nullptr, 100, 100, 4) == CUDA_ERROR_INVALID_VALUE);
        MUST(CUDA(cuMemAllocPitch_v2)(nullptr, &pitch, 100, 100, 4) == CUDA_ERROR_INVALID_VALUE);
        MUST(CUDA(cuMemCreate)(nullptr, 2 * kMiB, nullptr, 0) == CUDA_ERROR_INVALID_VALUE);
        MUST(CUDA(cuMemAllocAsync)(nullptr, kMiB, nullptr) == CUDA_ERROR_INVALID_VALUE);
        MUST(node.charged() == kContext);
    }));
}
