// SPDX-License-Identifier: Apache-2.0
//
// Work that is captured runs when the graph is launched, as often as that is.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "vgpu/api.h"

using namespace berth::test_vgpu;

namespace {

CUstream make_stream() {
    CUstream stream = nullptr;
    REQUIRE(cuda().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    return stream;
}

CUfunction add1_kernel() {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    REQUIRE(cuda().cuModuleLoadData(&module, kernels()) == CUDA_SUCCESS);
    REQUIRE(cuda().cuModuleGetFunction(&function, module, "berth_add1") == CUDA_SUCCESS);
    return function;
}

CUresult add1(CUfunction function, CUdeviceptr pointer, CUstream stream) {
    unsigned int count = 1;
    void* parameters[] = {&pointer, &count};
    return cuda().cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr);
}

std::uint32_t word_at(CUdeviceptr pointer) {
    std::uint32_t word = 0;
    CHECK(cuda().cuMemcpyDtoH(&word, pointer, 4) == CUDA_SUCCESS);
    return word;
}

CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec exec = nullptr;
    REQUIRE(cuda().cuGraphInstantiate(&exec, graph, 0) == CUDA_SUCCESS);
    return exec;
}

cuuint64_t graph_memory(CUgraphMem_attribute attribute) {
    cuuint64_t bytes = 0;
    CHECK(cuda().cuDeviceGetGraphMemAttribute(0, attribute, &bytes) == CUDA_SUCCESS);
    return bytes;
}

}  // namespace

TEST_CASE("captured work does not run, and runs once for every launch") {
    const PrimaryContext context;
    const CUfunction kernel = add1_kernel();
    const CUstream stream = make_stream();
    CUdeviceptr pointer = 0;
    REQUIRE(cuda().cuMemAlloc(&pointer, 4) == CUDA_SUCCESS);
    REQUIRE(cuda().cuMemsetD32(pointer, 10, 1) == CUDA_SUCCESS);
    REQUIRE(cuda().cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
    CHECK(add1(kernel, pointer, stream) == CUDA_SUCCESS);
    CHECK(add1(kernel, pointer, stream) == CUDA_SUCCESS);
    auto status = CU_STREAM_CAPTURE_STATUS_NONE;
    CHECK(cuda().cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS);
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CUgraph graph = nullptr;
    REQUIRE(cuda().cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS);
    CHECK(word_at(pointer) == 10);
    std::size_t count = 0;
    CHECK(cuda().cuGraphGetNodes(graph, nullptr, &count) == CUDA_SUCCESS);
    REQUIRE(count == 2);
    std::vector<CUgraphNode> nodes(count);
    CHECK(cuda().cuGraphGetNodes(graph, nodes.data(), &count) == CUDA_SUCCESS);
    auto type = CU_GRAPH_NODE_TYPE_EMPTY;
    CHECK(cuda().cuGraphNodeGetType(nodes[0], &type) == CUDA_SUCCESS);
    CHECK(type == CU_GRAPH_NODE_TYPE_KERNEL);
    const CUgraphExec exec = instantiate(graph);
    CHECK(cuda().cuGraphDestroy(graph) == CUDA_SUCCESS);
    for (int i = 0; i < 3; ++i) CHECK(cuda().cuGraphLaunch(exec, stream) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(word_at(pointer) == 16);
    CHECK(cuda().cuGraphExecDestroy(exec) == CUDA_SUCCESS);
}

TEST_CASE("a capture forks into another stream and must be joined again") {
    const PrimaryContext context;
    const CUfunction kernel = add1_kernel();
    const CUstream origin = make_stream();
    const CUstream other = make_stream();
    CUdeviceptr pointer = 0;
    REQUIRE(cuda().cuMemAlloc(&pointer, 4) == CUDA_SUCCESS);
    REQUIRE(cuda().cuMemsetD32(pointer, 0, 1) == CUDA_SUCCESS);
    CUevent event = nullptr;
    REQUIRE(cuda().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
    const auto capture = [&](bool joins) {
        REQUIRE(cuda().cuStreamBeginCapture(origin, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
        CHECK(cuda().cuEventRecord(event, origin) == CUDA_SUCCESS);
        CHECK(cuda().cuStreamWaitEvent(other, event, 0) == CUDA_SUCCESS);
        CHECK(add1(kernel, pointer, other) == CUDA_SUCCESS);
        if (joins) {
            CHECK(cuda().cuEventRecord(event, other) == CUDA_SUCCESS);
            CHECK(cuda().cuStreamWaitEvent(origin, event, 0) == CUDA_SUCCESS);
        }
        CUgraph graph = nullptr;
        CHECK(cuda().cuStreamEndCapture(origin, &graph) ==
              (joins ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED));
        return graph;
    };
    CHECK(capture(false) == nullptr);
    const CUgraphExec exec = instantiate(capture(true));
    CHECK(cuda().cuGraphLaunch(exec, origin) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamSynchronize(origin) == CUDA_SUCCESS);
    CHECK(word_at(pointer) == 1);
}

TEST_CASE("a capturing stream cannot be waited for") {
    const PrimaryContext context;
    const CUstream stream = make_stream();
    REQUIRE(cuda().cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
    if (is_software())  // a real driver also spoils the capture
        CHECK(cuda().cuStreamSynchronize(stream) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CUgraph graph = nullptr;
    CHECK(cuda().cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamEndCapture(stream, &graph) != CUDA_SUCCESS);
}

TEST_CASE("memory of a graph is taken at its first launch and kept until it is trimmed") {
    const PrimaryContext context;
    const CUfunction kernel = add1_kernel();
    const CUstream stream = make_stream();
    CUdeviceptr result = 0;
    REQUIRE(cuda().cuMemAlloc(&result, 4) == CUDA_SUCCESS);
    const std::uint64_t before = used_bytes();
    REQUIRE(cuda().cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
    CUdeviceptr inside = 0;
    REQUIRE(cuda().cuMemAllocAsync(&inside, 20 * kMiB, stream) == CUDA_SUCCESS);
    CHECK(cuda().cuMemsetD32Async(inside, 5, 1, stream) == CUDA_SUCCESS);
    CHECK(add1(kernel, inside, stream) == CUDA_SUCCESS);
    CHECK(cuda().cuMemFreeAsync(inside, stream) == CUDA_SUCCESS);
    CUgraph graph = nullptr;
    REQUIRE(cuda().cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS);
    const CUgraphExec exec = instantiate(graph);
    if (is_software()) CHECK(used_bytes() == before);
    CHECK(cuda().cuGraphLaunch(exec, stream) == CUDA_SUCCESS);
    CHECK(cuda().cuGraphLaunch(exec, stream) == CUDA_SUCCESS);
    CHECK(cuda().cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) >= 20 * kMiB);
    CHECK(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == 0);
    CHECK(used_bytes() - before == graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
    CHECK(cuda().cuGraphExecDestroy(exec) == CUDA_SUCCESS);
    CHECK(cuda().cuDeviceGraphMemTrim(0) == CUDA_SUCCESS);
    CHECK(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) == 0);
    CHECK(used_bytes() == before);
}
