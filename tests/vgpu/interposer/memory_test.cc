// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <vector>

#include "vgpu/interposer/job.h"

using namespace vgpu;

TEST_CASE("every allocation is charged what the GPU gives for it, and given back when freed") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        const auto same = [&] { return node.charged() == cuda.really_used(); };
        MUST(node.charged() == kContext);
        MUST(same());
        CUdeviceptr small = 0;
        CUdeviceptr large = 0;
        CUdeviceptr pitched = 0;
        std::size_t pitch = 0;
        MUST(CUDA(cuMemAlloc_v2)(&small, 1000) == CUDA_SUCCESS);
        MUST(same());
        MUST(CUDA(cuMemAlloc_v2)(&large, 100 * kMiB + 1) == CUDA_SUCCESS);
        MUST(node.charged() == kContext + 2 * kMiB + 102 * kMiB);
        MUST(same());
        MUST(CUDA(cuMemAllocPitch_v2)(&pitched, &pitch, 5000, 3000, 4) == CUDA_SUCCESS);
        MUST(same());
        MUST(CUDA(cuMemFree_v2)(pitched) == CUDA_SUCCESS);
        MUST(CUDA(cuMemFree_v2)(large) == CUDA_SUCCESS);
        MUST(CUDA(cuMemFree_v2)(small) == CUDA_SUCCESS);
        MUST(same());
        MUST(node.charged() == kContext);
    }));
}

TEST_CASE("rows that just fit are not refused") {
    const GpuNode node("memory=300M");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUdeviceptr rows = 0;
        std::size_t pitch = 0;
        MUST(CUDA(cuMemAllocPitch_v2)(&rows, &pitch, 1024, 236 * 1024, 4) == CUDA_SUCCESS);
        MUST(is_charged(node, cuda, 236 * kMiB));
        MUST(CUDA(cuMemFree_v2)(rows) == CUDA_SUCCESS);
        MUST(is_charged(node, cuda, 0));
    }));
}

TEST_CASE("arrays and mipmapped arrays are charged") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUarray flat = nullptr;
        CUarray deep = nullptr;
        CUmipmappedArray levels = nullptr;
        const CUDA_ARRAY_DESCRIPTOR two = {2048, 1024, CU_AD_FORMAT_FLOAT, 4};
        const CUDA_ARRAY3D_DESCRIPTOR three = {512, 256, 64, CU_AD_FORMAT_HALF, 2, 0};
        MUST(CUDA(cuArrayCreate_v2)(&flat, &two) == CUDA_SUCCESS);
        MUST(node.charged() == cuda.really_used());
        MUST(node.charged() == kContext + 32 * kMiB);
        MUST(CUDA(cuArray3DCreate_v2)(&deep, &three) == CUDA_SUCCESS);
        MUST(node.charged() == cuda.really_used());
        MUST(CUDA(cuMipmappedArrayCreate)(&levels, &three, 3) == CUDA_SUCCESS);
        MUST(node.charged() == cuda.really_used());
        MUST(CUDA(cuMipmappedArrayDestroy)(levels) == CUDA_SUCCESS);
        MUST(CUDA(cuArrayDestroy)(deep) == CUDA_SUCCESS);
        MUST(CUDA(cuArrayDestroy)(flat) == CUDA_SUCCESS);
        MUST(node.charged() == kContext);
    }));
}

TEST_CASE("a program past its limit is refused as by a full GPU, and learns whose limit it was") {
    const GpuNode node("memory=300M");
    CaughtErrors errors;
    const int code = run([&](const Cuda& cuda) {
        cuda.use_device();
        CUdeviceptr first = 0;
        CUdeviceptr second = 0;
        MUST(CUDA(cuMemAlloc_v2)(&first, 200 * kMiB) == CUDA_SUCCESS);
        MUST(CUDA(cuMemAlloc_v2)(&second, 100 * kMiB) == CUDA_ERROR_OUT_OF_MEMORY);
        MUST(CUDA(cuMemAlloc_v2)(&second, ~std::size_t{0}) == CUDA_ERROR_OUT_OF_MEMORY);
        MUST(CUDA(cuMemAlloc_v2)(&second, 36 * kMiB) == CUDA_SUCCESS);
        MUST(node.charged() == 300 * kMiB);
    });
    const std::string said = errors.text();
    CAPTURE(said);
    CHECK(code == 0);
    CHECK(said.find("out of GPU memory by this job's own limit") != std::string::npos);
    CHECK(said.find("asked for 100.0 MiB, limit 300.0 MiB, in use 264.0 MiB") != std::string::npos);
}

TEST_CASE("processes of a tenant never hold more than its limit together, also when killed") {
    const GpuNode node("memory=1G", {"--free-after", "50ms"});
    int until_all_are_there[2];
    REQUIRE(::pipe2(until_all_are_there, O_CLOEXEC) == 0);
    const auto life = [&](int number) {
        ::close(until_all_are_there[1]);
        const Cuda cuda;
        cuda.use_device();
        char none = 0;
        MUST(::read(until_all_are_there[0], &none, 1) == 0);
        std::vector<CUdeviceptr> blocks;
        for (int round = 0; round < 400; ++round) {
            CUdeviceptr block = 0;
            const std::size_t bytes =
                static_cast<std::size_t>(1 + (round * 7 + number) % 60) * kMiB;
            if (round % 3 != 0 && CUDA(cuMemAlloc_v2)(&block, bytes) == CUDA_SUCCESS)
                blocks.push_back(block);
            if (round % 3 == 0 && !blocks.empty()) {
                MUST(CUDA(cuMemFree_v2)(blocks.back()) == CUDA_SUCCESS);
                blocks.pop_back();
            }
            MUST(cuda.really_used() <= 1024 * kMiB);
            if (number % 2 == 0 && round == 100 + number) ::kill(::getpid(), SIGKILL);
        }
        return 0;
    };
    CaughtErrors errors;
    std::vector<pid_t> children;
    for (int number = 0; number < 6; ++number)
        children.push_back(start([&, number] { return life(number); }));
    CHECK(eventually([&] { return node.charged() == 6 * kContext; }));
    for (const int end : until_all_are_there) ::close(end);
    std::vector<int> codes;
    for (const pid_t child : children) codes.push_back(end_of(child));
    CAPTURE(errors.text());
    for (std::size_t number = 0; number < codes.size(); ++number)
        CHECK(codes[number] == (number % 2 == 0 ? 128 + SIGKILL : 0));
    CHECK(eventually([&] { return node.charged() == 0; }));
}

TEST_CASE("managed memory counts, and may pass the limit only where the owner says so") {
    const GpuNode node("memory=300M");
    CaughtErrors errors;
    const auto ask = [&](CUresult wanted) {
        return run([&, wanted](const Cuda& cuda) {
            cuda.use_device();
            CUdeviceptr pointer = 0;
            MUST(CUDA(cuMemAllocManaged)(&pointer, 500 * kMiB, CU_MEM_ATTACH_GLOBAL) == wanted);
        });
    };
    const int refused = ask(CUDA_ERROR_OUT_OF_MEMORY);
    node.order("set job managed=allow");
    const int allowed = ask(CUDA_SUCCESS);
    CAPTURE(errors.text());
    CHECK(refused == 0);
    CHECK(allowed == 0);
}

TEST_CASE("memory that another process opens is paid by its owner alone") {
    const GpuNode node("memory=1G");
    int pipes[2];
    REQUIRE(::pipe(pipes) == 0);
    const pid_t owner = start([&] {
        const Cuda cuda;
        cuda.use_device();
        CUdeviceptr pointer = 0;
        CUipcMemHandle handle{};
        MUST(CUDA(cuMemAlloc_v2)(&pointer, 100 * kMiB) == CUDA_SUCCESS);
        MUST(CUDA(cuIpcGetMemHandle)(&handle, pointer) == CUDA_SUCCESS);
        MUST(::write(pipes[1], &handle, sizeof handle) == sizeof handle);
        pause_ms(kPatience / 1'000'000);
        return 0;
    });
    succeeds(run([&](const Cuda& cuda) {
        CUipcMemHandle handle{};
        MUST(::read(pipes[0], &handle, sizeof handle) == sizeof handle);
        cuda.use_device();
        CUdeviceptr pointer = 0;
        MUST(CUDA(cuIpcOpenMemHandle_v2)(&pointer, handle, 1) == CUDA_SUCCESS);
        MUST(node.charged() == 2 * kContext + 100 * kMiB);
        MUST(CUDA(cuIpcCloseMemHandle)(pointer) == CUDA_SUCCESS);
        MUST(node.charged() == 2 * kContext + 100 * kMiB);
    }));
    ::kill(owner, SIGKILL);
    CHECK(end_of(owner) == 128 + SIGKILL);
}

TEST_CASE("contexts are charged, and what lives in one goes with it") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUcontext second = nullptr;
        CUdeviceptr pointer = 0;
        MUST(cuda.get<decltype(cuCtxCreate_v2)>("cuCtxCreate", 11030)(&second, 0, 0) ==
             CUDA_SUCCESS);
        MUST(node.charged() == 2 * kContext);
        MUST(CUDA(cuMemAlloc_v2)(&pointer, 50 * kMiB) == CUDA_SUCCESS);
        MUST(node.charged() == 2 * kContext + 50 * kMiB);
        MUST(CUDA(cuCtxDestroy_v2)(second) == CUDA_SUCCESS);
        MUST(node.charged() == kContext);
        MUST(CUDA(cuDevicePrimaryCtxRelease_v2)(0) == CUDA_SUCCESS);
        MUST(node.charged() == 0);
    }));
}

TEST_CASE("a context that does not fit is refused") {
    const GpuNode node("memory=100M");
    CaughtErrors errors;
    const int code = run([&](const Cuda& cuda) {
        cuda.use_device();
        CUcontext second = nullptr;
        MUST(cuda.get<decltype(cuCtxCreate_v2)>("cuCtxCreate", 11030)(&second, 0, 0) ==
             CUDA_ERROR_OUT_OF_MEMORY);
    });
    CAPTURE(errors.text());
    CHECK(code == 0);
}

TEST_CASE("what the driver takes beyond what is charged counts against the limit once it is seen") {
    const GpuNode node("memory=1G", {"--nvml", ::getenv("BERTH_VGPU_NVML")});
    // As if contexts cost 16 MiB: the other 48 are held and not counted.
    node.order("tenant small gpus=" + GpuNode::uuid(0) + ":300M context=16M");
    node.be("small");
    const pid_t process = start([&] {
        const Cuda cuda;
        cuda.use_device();
        MUST(eventually([&] { return node.charged("small") == kContext; }));
        MUST(node.status("small", "uncounted") == std::to_string(48 * kMiB));
        std::size_t free = 0;
        CUdeviceptr pointer = 0;
        MUST(CUDA(cuMemGetInfo_v2)(&free, nullptr) == CUDA_SUCCESS);
        MUST(free == 236 * kMiB);
        MUST(CUDA(cuMemAlloc_v2)(&pointer, 238 * kMiB) == CUDA_ERROR_OUT_OF_MEMORY);
        MUST(CUDA(cuMemAlloc_v2)(&pointer, 236 * kMiB) == CUDA_SUCCESS);
        // Churn is not taken for something uncounted.
        MUST(CUDA(cuMemFree_v2)(pointer) == CUDA_SUCCESS);
        for (const std::int64_t end = now_ns() + 1'000'000'000; now_ns() < end;) {
            MUST(CUDA(cuMemAlloc_v2)(&pointer, 236 * kMiB) == CUDA_SUCCESS);
            MUST(CUDA(cuMemFree_v2)(pointer) == CUDA_SUCCESS);
        }
        return 0;
    });
    succeeds(end_of(process));
    CHECK(eventually([&] { return node.charged("small") == 0; }));
}

TEST_CASE("memory of a GPU that the tenant has no share of is refused") {
    const GpuNode node("memory=1G");
    CaughtErrors errors;
    const int code = run([&](const Cuda& cuda) {
        cuda.use_device(1);
        CUdeviceptr pointer = 0;
        MUST(CUDA(cuMemAlloc_v2)(&pointer, kMiB) == CUDA_ERROR_OUT_OF_MEMORY);
    });
    const std::string said = errors.text();
    CAPTURE(said);
    CHECK(code == 0);
    CHECK(said.find("no share of the GPU") != std::string::npos);
}
