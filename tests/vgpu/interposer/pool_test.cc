// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <vector>

#include "vgpu/interposer/job.h"

using namespace vgpu;
namespace ledger = berth::vgpu::ledger;

TEST_CASE("a pool is charged what it reserves, not what is handed out of it") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUmemoryPool pool = nullptr;
        cuuint64_t keep = ~cuuint64_t{0};
        MUST(CUDA(cuDeviceGetMemPool)(&pool, 0) == CUDA_SUCCESS);
        MUST(CUDA(cuMemPoolSetAttribute)(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep) ==
             CUDA_SUCCESS);
        CUdeviceptr one = 0;
        CUdeviceptr other = 0;
        MUST(CUDA(cuMemAllocAsync)(&one, 10 * kMiB, nullptr) == CUDA_SUCCESS);
        const std::uint64_t charged = node.charged();
        MUST(charged == cuda.really_used());
        MUST(charged > kContext);
        MUST(CUDA(cuMemAllocAsync)(&other, 10 * kMiB, nullptr) == CUDA_SUCCESS);
        MUST(node.charged() == charged);
        MUST(CUDA(cuMemFreeAsync)(one, nullptr) == CUDA_SUCCESS);
        MUST(CUDA(cuMemFree_v2)(other) == CUDA_SUCCESS);
        MUST(CUDA(cuCtxSynchronize)() == CUDA_SUCCESS);
        MUST(node.charged() == charged);
        MUST(cuda.really_used() == charged);
        MUST(CUDA(cuMemPoolTrimTo)(pool, 0) == CUDA_SUCCESS);
        MUST(node.charged() == kContext);
        MUST(cuda.really_used() == kContext);
    }));
}

TEST_CASE("what a pool gives back when the program waits is given back to its share") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUdeviceptr pointer = 0;
        MUST(CUDA(cuMemAllocAsync)(&pointer, 600 * kMiB, nullptr) == CUDA_SUCCESS);
        MUST(CUDA(cuMemFreeAsync)(pointer, nullptr) == CUDA_SUCCESS);
        MUST(CUDA(cuCtxSynchronize)() == CUDA_SUCCESS);
        MUST(cuda.really_used() == kContext);
        MUST(node.charged() == kContext);
        MUST(CUDA(cuMemAlloc_v2)(&pointer, 800 * kMiB) == CUDA_SUCCESS);
    }));
}

TEST_CASE("a pool that cannot grow is trimmed before a request is refused") {
    const GpuNode node("memory=400M");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUmemoryPool pool = nullptr;
        cuuint64_t keep = ~cuuint64_t{0};
        MUST(CUDA(cuDeviceGetMemPool)(&pool, 0) == CUDA_SUCCESS);
        MUST(CUDA(cuMemPoolSetAttribute)(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep) ==
             CUDA_SUCCESS);
        CUdeviceptr pointer = 0;
        MUST(CUDA(cuMemAllocAsync)(&pointer, 200 * kMiB, nullptr) == CUDA_SUCCESS);
        MUST(CUDA(cuMemFreeAsync)(pointer, nullptr) == CUDA_SUCCESS);
        MUST(CUDA(cuCtxSynchronize)() == CUDA_SUCCESS);
        MUST(CUDA(cuMemAllocAsync)(&pointer, 300 * kMiB, nullptr) == CUDA_SUCCESS);
        MUST(cuda.really_used() <= 400 * kMiB);
        MUST(node.charged() == cuda.really_used());
        CUdeviceptr more = 0;
        MUST(CUDA(cuMemAllocAsync)(&more, 100 * kMiB, nullptr) == CUDA_ERROR_OUT_OF_MEMORY);
        MUST(cuda.really_used() <= 400 * kMiB);
    }));
}

TEST_CASE("a pool of the program's own counts as the device's does, until it is destroyed") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUmemPoolProps props{};
        props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        CUmemoryPool pool = nullptr;
        MUST(CUDA(cuMemPoolCreate)(&pool, &props) == CUDA_SUCCESS);
        CUdeviceptr pointer = 0;
        MUST(CUDA(cuMemAllocFromPoolAsync)(&pointer, 70 * kMiB, pool, nullptr) == CUDA_SUCCESS);
        MUST(node.charged() == cuda.really_used());
        MUST(node.charged() >= kContext + 70 * kMiB);
        MUST(CUDA(cuMemFreeAsync)(pointer, nullptr) == CUDA_SUCCESS);
        MUST(CUDA(cuCtxSynchronize)() == CUDA_SUCCESS);
        MUST(CUDA(cuMemPoolDestroy)(pool) == CUDA_SUCCESS);
        MUST(node.charged() == kContext);
    }));
}

TEST_CASE("a pool is charged to the GPU that it is on, whatever context is current") {
    const GpuNode node("memory=1G");
    node.order("tenant both gpus=" + GpuNode::uuid(0) + ":1G," + GpuNode::uuid(1) +
               ":128M context=64M");
    node.be("both");
    const ledger::Membership both = node.join("both");
    const auto charged = [&](std::uint32_t gpu) { return ledger::charged(both.place(gpu)); };
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUmemPoolProps props{};
        props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
        CUmemoryPool own = nullptr;
        CUmemoryPool devices = nullptr;
        MUST(CUDA(cuMemPoolCreate)(&own, &props) == CUDA_SUCCESS);
        MUST(CUDA(cuDeviceGetDefaultMemPool)(&devices, 1) == CUDA_SUCCESS);
        for (const CUmemoryPool pool : {own, devices}) {
            CUdeviceptr pointer = 0;
            CUdeviceptr more = 0;
            MUST(CUDA(cuMemAllocFromPoolAsync)(&pointer, 70 * kMiB, pool, nullptr) == CUDA_SUCCESS);
            MUST(charged(0) == kContext);
            MUST(charged(1) >= 70 * kMiB);
            MUST(CUDA(cuMemAllocFromPoolAsync)(&more, 70 * kMiB, pool, nullptr) ==
                 CUDA_ERROR_OUT_OF_MEMORY);
            MUST(CUDA(cuMemFreeAsync)(pointer, nullptr) == CUDA_SUCCESS);
            MUST(CUDA(cuCtxSynchronize)() == CUDA_SUCCESS);
            MUST(charged(1) == 0);
        }
    }));
}

TEST_CASE("a pool of the host's or of managed memory is charged to no GPU") {
    const GpuNode node("memory=128M");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUmemPoolProps of_host{};
        of_host.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        of_host.location = {CU_MEM_LOCATION_TYPE_HOST, 0};
        CUmemPoolProps managed{};
        managed.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
        managed.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        for (const CUmemPoolProps& props : {of_host, managed}) {
            CUmemoryPool pool = nullptr;
            CUdeviceptr pointer = 0;
            MUST(CUDA(cuMemPoolCreate)(&pool, &props) == CUDA_SUCCESS);
            MUST(CUDA(cuMemAllocFromPoolAsync)(&pointer, 500 * kMiB, pool, nullptr) ==
                 CUDA_SUCCESS);
            MUST(is_charged(node, cuda, 0));
            MUST(CUDA(cuMemFreeAsync)(pointer, nullptr) == CUDA_SUCCESS);
            MUST(CUDA(cuCtxSynchronize)() == CUDA_SUCCESS);
            MUST(CUDA(cuMemPoolTrimTo)(pool, 0) == CUDA_SUCCESS);
            MUST(CUDA(cuMemPoolDestroy)(pool) == CUDA_SUCCESS);
            MUST(is_charged(node, cuda, 0));
        }
    }));
}

TEST_CASE("what graphs allocate is charged once it is there, and given back when it is trimmed") {
    const GpuNode node("memory=1G");
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUgraph graph = nullptr;
        CUgraphNode allocation = nullptr;
        CUgraphNode release = nullptr;
        CUgraphExec exec = nullptr;
        CUDA_MEM_ALLOC_NODE_PARAMS params{};
        params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        params.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        params.bytesize = 40 * kMiB;
        MUST(CUDA(cuGraphCreate)(&graph, 0) == CUDA_SUCCESS);
        MUST(CUDA(cuGraphAddMemAllocNode)(&allocation, graph, nullptr, 0, &params) == CUDA_SUCCESS);
        MUST(CUDA(cuGraphAddMemFreeNode)(&release, graph, &allocation, 1, params.dptr) ==
             CUDA_SUCCESS);
        MUST(CUDA(cuGraphInstantiateWithFlags)(&exec, graph, 0) == CUDA_SUCCESS);
        MUST(CUDA(cuGraphLaunch)(exec, nullptr) == CUDA_SUCCESS);
        MUST(CUDA(cuCtxSynchronize)() == CUDA_SUCCESS);
        MUST(node.charged() >= kContext + 40 * kMiB);
        MUST(node.charged() == cuda.really_used());
        MUST(CUDA(cuGraphExecDestroy)(exec) == CUDA_SUCCESS);
        MUST(CUDA(cuGraphDestroy)(graph) == CUDA_SUCCESS);
        MUST(CUDA(cuDeviceGraphMemTrim)(0) == CUDA_SUCCESS);
        MUST(node.charged() == kContext);
        MUST(cuda.really_used() == kContext);
    }));
}
