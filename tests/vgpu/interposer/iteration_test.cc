// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "vgpu/interposer/job.h"
#include "vgpu/interposer/training.h"

using namespace vgpu;

namespace {

std::uint64_t number(const GpuNode& node, const char* key) {
    return std::stoull(node.status("job", key));
}

}  // namespace

TEST_CASE("the arbiter knows of a training its iterations and what they take") {
    const GpuNode node("memory=2G");
    Meter& meter = Meter::make();
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        Training training(cuda, {}, meter);
        training.run(60);
    }));
    CHECK(number(node, "launches") == 41);
    CHECK(number(node, "iterations") >= 50);
    // 4.1 ms of kernels, 4 ms of thought, and what this machine adds.
    CHECK(number(node, "iteration_us") >= 8'000);
    CHECK(number(node, "iteration_us") * 1000 < 2 * static_cast<std::uint64_t>(meter.took / 50));
    const double share = std::stod(node.status("job", "device_share"));
    const double expected = 4100.0 / static_cast<double>(number(node, "iteration_us"));
    CHECK(share > 0.7 * expected);
    // Work counts until its process sees its end, which may be late on a machine that is busy.
    if (!is_too_busy(meter.starved, meter.took)) CHECK(share < 1.5 * expected);
    // With its context. Memory of the step is free again when the step ends.
    CHECK(number(node, "persistent") == 164 * kMiB);
    CHECK(number(node, "peak") == 214 * kMiB);
    CHECK(number(node, "highest") == 214 * kMiB);
}

TEST_CASE("a training that polls for its work has the same iterations") {
    const GpuNode node("memory=2G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        Training training(cuda, {.polls = true});
        training.run(60);
    }));
    CHECK(number(node, "launches") == 41);
    CHECK(number(node, "iterations") >= 50);
    CHECK(number(node, "persistent") == 164 * kMiB);
    CHECK(number(node, "peak") == 214 * kMiB);
}

TEST_CASE("of a process without iterations the highest memory is known, and nothing is made up") {
    const GpuNode node("memory=2G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUdeviceptr pointer = 0;
        MUST(CUDA(cuMemAlloc_v2)(&pointer, 300 * kMiB) == CUDA_SUCCESS);
        MUST(CUDA(cuMemFree_v2)(pointer) == CUDA_SUCCESS);
    }));
    CHECK(number(node, "highest") == 364 * kMiB);
    CHECK(number(node, "iterations") == 0);
    CHECK(number(node, "launches") == 0);
    CHECK(node.status("job", "device_share") == "none");
}

TEST_CASE("steps that are graphs are iterations of one launch") {
    const GpuNode node("memory=2G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUstream stream = nullptr;
        CUgraph graph = nullptr;
        CUgraphExec exec = nullptr;
        const CUfunction spin = load_spin(cuda);
        std::uint64_t ns = 200'000;
        void* parameters[] = {&ns};
        MUST(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
        MUST(CUDA(cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
        for (int index = 0; index < 10; ++index)
            MUST(CUDA(cuLaunchKernel)(spin, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr) ==
                 CUDA_SUCCESS);
        MUST(CUDA(cuStreamEndCapture)(stream, &graph) == CUDA_SUCCESS);
        MUST(CUDA(cuGraphInstantiateWithFlags)(&exec, graph, 0) == CUDA_SUCCESS);
        for (int index = 0; index < 200; ++index) {
            MUST(CUDA(cuGraphLaunch)(exec, stream) == CUDA_SUCCESS);
            MUST(CUDA(cuStreamSynchronize)(stream) == CUDA_SUCCESS);
        }
    }));
    CHECK(number(node, "launches") == 1);
    CHECK(number(node, "iterations") > 100);
    CHECK(number(node, "iteration_us") >= 2'000);
}
