// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vgpu/interposer/hooks/report.h"
#include "vgpu/interposer/job.h"

using namespace vgpu;

TEST_CASE("a program without a tenant's socket uses the GPU as without the library") {
    const GpuNode node("memory=100M");
    GpuNode::be_nobody();
    succeeds(run([](const Cuda& cuda) {
        cuda.use_device();
        CUdeviceptr pointer = 0;
        std::size_t free = 0;
        std::size_t total = 0;
        MUST(CUDA(cuMemAlloc_v2)(&pointer, 500 * kMiB) == CUDA_SUCCESS);
        MUST(CUDA(cuMemGetInfo_v2)(&free, &total) == CUDA_SUCCESS);
        MUST(total == 4096 * kMiB);
        MUST(CUDA(cuMemFree_v2)(pointer) == CUDA_SUCCESS);
    }));
    CHECK(node.charged() == 0);
}

TEST_CASE("a program whose arbiter does not answer may not start on the GPU") {
    const GpuNode node("memory=100M");
    ::setenv("BERTH_VGPU_SOCKET", "/nonexistent/socket", 1);
    succeeds(run([](const Cuda& cuda) { MUST(CUDA(cuInit)(0) == CUDA_ERROR_NOT_PERMITTED); }));
}

TEST_CASE("a child of fork is of no tenant, and its parent goes on as before") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUdeviceptr pointer = 0;
        MUST(CUDA(cuMemAlloc_v2)(&pointer, 100 * kMiB) == CUDA_SUCCESS);
        const pid_t child = start([&] { return 0; });
        MUST(end_of(child) == 0);
        pause_ms(100);
        MUST(node.charged() == kContext + 100 * kMiB);
        MUST(node.status("job", "processes") == "1");
        MUST(CUDA(cuMemFree_v2)(pointer) == CUDA_SUCCESS);
        MUST(node.charged() == kContext);
    }));
}

TEST_CASE("a child forked before the first use joins by itself") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        MUST(CUDA(cuInit)(0) == CUDA_SUCCESS);
        MUST(node.status("job", "processes") == "1");
    }));
    succeeds(run([&](const Cuda&) {
        const auto life = [&](const Cuda& cuda) {
            cuda.use_device();
            MUST(node.charged() >= kContext);
        };
        MUST(run(life) == 0);
    }));
}

TEST_CASE("what a process used before it executed another program comes back") {
    const GpuNode node("memory=1G", {"--free-after", "100ms"});
    const pid_t child = start([&] {
        const Cuda cuda;
        cuda.use_device();
        CUdeviceptr pointer = 0;
        MUST(CUDA(cuMemAlloc_v2)(&pointer, 100 * kMiB) == CUDA_SUCCESS);
        ::execl("/bin/sleep", "sleep", "1", nullptr);
        return 1;
    });
    // It lives and might hold memory: that ends with it at the latest.
    CHECK(end_of(child) == 0);
    CHECK(eventually([&] { return node.charged() == 0; }));
}

TEST_CASE("a killed process's memory comes back to its tenant") {
    const GpuNode node("memory=300M", {"--free-after", "100ms"});
    for (int round = 0; round < 3; ++round) {
        const int code = run([&](const Cuda& cuda) {
            cuda.use_device();
            CUdeviceptr pointer = 0;
            MUST(CUDA(cuMemAlloc_v2)(&pointer, 200 * kMiB) == CUDA_SUCCESS);
            ::kill(::getpid(), SIGKILL);
        });
        CHECK(code == 128 + SIGKILL);
        CHECK(eventually([&] { return node.charged() == 0; }));
    }
}

TEST_CASE("an arbiter killed and started again gets its processes back with what they hold") {
    GpuNode node("memory=300M", {"--settle", "300ms"});
    int asks[2];
    int goes[2];
    REQUIRE(::pipe(asks) == 0);
    REQUIRE(::pipe(goes) == 0);
    const pid_t child = start([&] {
        const Cuda cuda;
        cuda.use_device();
        CUdeviceptr first = 0;
        CUdeviceptr second = 0;
        char byte = 0;
        MUST(CUDA(cuMemAlloc_v2)(&first, 200 * kMiB) == CUDA_SUCCESS);
        MUST(::write(asks[1], "x", 1) == 1);
        MUST(::read(goes[0], &byte, 1) == 1);
        // The arbiter is dead: its limit is not.
        MUST(CUDA(cuMemAlloc_v2)(&second, 100 * kMiB) == CUDA_ERROR_OUT_OF_MEMORY);
        MUST(::write(asks[1], "x", 1) == 1);
        MUST(::read(goes[0], &byte, 1) == 1);
        MUST(CUDA(cuMemAlloc_v2)(&second, 100 * kMiB) == CUDA_SUCCESS);
        MUST(CUDA(cuMemFree_v2)(first) == CUDA_SUCCESS);
        MUST(node.charged() == kContext + 100 * kMiB);
        return 0;
    });
    char byte = 0;
    REQUIRE(::read(asks[0], &byte, 1) == 1);
    node.kill_arbiter();
    REQUIRE(::write(goes[1], "x", 1) == 1);
    REQUIRE(::read(asks[0], &byte, 1) == 1);
    node.start_arbiter();
    node.tenant("job", "memory=400M");
    CHECK(eventually([&] { return node.charged() == kContext + 200 * kMiB; }));
    REQUIRE(::write(goes[1], "x", 1) == 1);
    CHECK(end_of(child) == 0);
}
