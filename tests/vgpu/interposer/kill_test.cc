// SPDX-License-Identifier: Apache-2.0
//
// A process dies inside the driver, in each call that takes memory or gives it back: before the
// driver has acted, when the share is charged and nothing is held, and after that, when it is held
// and not yet noted. hooks_test.py holds the names here to the table of hooks.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "vgpu/interposer/job.h"

using namespace vgpu;

// What the table of hooks knows and the API's own declarations do not.
extern "C" {
decltype(cuMemAllocAsync) cuMemAllocAsync_ptsz;
decltype(cuMemAllocFromPoolAsync) cuMemAllocFromPoolAsync_ptsz;
decltype(cuMemFreeAsync) cuMemFreeAsync_ptsz;
decltype(cuGraphLaunch) cuGraphLaunch_ptsz;
decltype(cuGraphUpload) cuGraphUpload_ptsz;
decltype(cuDevicePrimaryCtxRelease_v2) cuDevicePrimaryCtxRelease;
decltype(cuDevicePrimaryCtxReset_v2) cuDevicePrimaryCtxReset;
}

namespace {

constexpr std::uint64_t kKillLimit = 512 * kMiB;
constexpr std::size_t kBytes = 40 * kMiB;
constexpr std::uint64_t kNeighbour = kContext + 36 * kMiB;

void* by_name(const char* name) {
    static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    void* const function = ::dlsym(library, name);
    MUST(function != nullptr);
    return function;
}
// By the exported name, so that it is this one and no other version of it.
#define CALL(name) reinterpret_cast<decltype(&::name)>(by_name(#name))
#define DONE(call) MUST((call) == CUDA_SUCCESS)

void linear(const Cuda& cuda) {
    cuda.use_device();
    CUdeviceptr one = 0;
    CUdeviceptr other = 0;
    std::size_t pitch = 0;
    DONE(CALL(cuMemAlloc_v2)(&one, kBytes));
    DONE(CALL(cuMemAllocPitch_v2)(&other, &pitch, 1000, 20'000, 4));
    DONE(CALL(cuMemAllocManaged)(&other, kBytes, CU_MEM_ATTACH_GLOBAL));
    DONE(CALL(cuMemFree_v2)(one));
}

void first_versions(const Cuda&) {
    CUcontext context = nullptr;
    CUdeviceptr_v1 one = 0;
    CUdeviceptr_v1 rows = 0;
    unsigned int pitch = 0;
    CUarray array = nullptr;
    const CUDA_ARRAY_DESCRIPTOR_v1 flat{1024, 1024, CU_AD_FORMAT_FLOAT, 4};
    const CUDA_ARRAY3D_DESCRIPTOR_v1 cube{128, 256, 64, CU_AD_FORMAT_FLOAT, 4, 0};
    DONE(CALL(cuInit)(0));
    DONE(CALL(cuCtxCreate)(&context, 0, 0));
    DONE(CALL(cuMemAlloc)(&one, kBytes));
    DONE(CALL(cuMemAllocPitch)(&rows, &pitch, 1000, 20'000, 4));
    DONE(CALL(cuMemFree)(one));
    DONE(CALL(cuArrayCreate)(&array, &flat));
    DONE(CALL(cuArray3DCreate)(&array, &cube));
    DONE(CALL(cuCtxDestroy)(context));
}

void arrays(const Cuda& cuda) {
    cuda.use_device();
    CUarray flat = nullptr;
    CUarray deep = nullptr;
    CUmipmappedArray levels = nullptr;
    const CUDA_ARRAY_DESCRIPTOR two = {2048, 1024, CU_AD_FORMAT_FLOAT, 4};
    const CUDA_ARRAY3D_DESCRIPTOR three = {512, 256, 64, CU_AD_FORMAT_HALF, 2, 0};
    DONE(CALL(cuArrayCreate_v2)(&flat, &two));
    DONE(CALL(cuArray3DCreate_v2)(&deep, &three));
    DONE(CALL(cuMipmappedArrayCreate)(&levels, &three, 3));
    DONE(CALL(cuMipmappedArrayDestroy)(levels));
    DONE(CALL(cuArrayDestroy)(flat));
}

void contexts(const Cuda&) {
    CUcontext context = nullptr;
    DONE(CALL(cuInit)(0));
    DONE(CALL(cuCtxCreate_v2)(&context, 0, 0));
    DONE(CALL(cuCtxDestroy_v2)(context));
    DONE(CALL(cuCtxCreate_v3)(&context, nullptr, 0, 0, 0));
    DONE(CALL(cuCtxCreate_v4)(&context, nullptr, 0, 0));
    DONE(CALL(cuDevicePrimaryCtxRetain)(&context, 0));
    DONE(CALL(cuDevicePrimaryCtxRelease_v2)(0));
    DONE(CALL(cuDevicePrimaryCtxRetain)(&context, 0));
    DONE(CALL(cuDevicePrimaryCtxReset_v2)(0));
    // The software driver draws nothing.
    CALL(cuGLCtxCreate)(&context, 0, 0);
    CALL(cuGLCtxCreate_v2)(&context, 0, 0);
    CALL(cuVDPAUCtxCreate)(&context, 0, 0, 0, nullptr);
    CALL(cuVDPAUCtxCreate_v2)(&context, 0, 0, 0, nullptr);
    // It has no first versions of these; one that has them does as it likes.
    CALL(cuDevicePrimaryCtxReset)(0);
    CALL(cuDevicePrimaryCtxRelease)(0);
}

void green_contexts(const Cuda&) {
    CUdevResource all{};
    CUdevResourceDesc desc = nullptr;
    CUgreenCtx green = nullptr;
    DONE(CALL(cuInit)(0));
    DONE(CALL(cuDeviceGetDevResource)(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    DONE(CALL(cuDevResourceGenerateDesc)(&desc, &all, 1));
    DONE(CALL(cuGreenCtxCreate)(&green, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    DONE(CALL(cuGreenCtxDestroy)(green));
}

CUmemGenericAllocationHandle create(CUmemAllocationHandleType type = CU_MEM_HANDLE_TYPE_NONE) {
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.requestedHandleTypes = type;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemGenericAllocationHandle handle = 0;
    DONE(CALL(cuMemCreate)(&handle, kBytes, &prop, 0));
    return handle;
}

void handles(const Cuda& cuda) {
    cuda.use_device();
    const CUmemGenericAllocationHandle handle = create();
    CUmemGenericAllocationHandle again = 0;
    CUdeviceptr address = 0;
    DONE(CALL(cuMemAddressReserve)(&address, kBytes, 0, 0, 0));
    DONE(CALL(cuMemMap)(address, kBytes, 0, handle, 0));
    DONE(CALL(cuMemRelease)(handle));
    DONE(CALL(cuMemRetainAllocationHandle)(&again, reinterpret_cast<void*>(address)));
    DONE(CALL(cuMemUnmap)(address, kBytes));
    DONE(CALL(cuMemRelease)(again));
}

void multicast(const Cuda& cuda) {
    cuda.use_device();
    const CUmulticastObjectProp prop{1, 2 * kBytes, 0, 0};
    CUmemGenericAllocationHandle object = 0;
    CUdeviceptr address = 0;
    DONE(CALL(cuMulticastCreate)(&object, &prop));
    DONE(CALL(cuMulticastAddDevice)(object, 0));
    const CUmemGenericAllocationHandle first = create();
    DONE(CALL(cuMulticastBindMem)(object, 0, first, 0, kBytes, 0));
    const CUmemGenericAllocationHandle second = create();
    DONE(CALL(cuMemAddressReserve)(&address, kBytes, 0, 0, 0));
    DONE(CALL(cuMemMap)(address, kBytes, 0, second, 0));
    DONE(CALL(cuMulticastBindAddr)(object, kBytes, address, kBytes, 0));
    DONE(CALL(cuMemRelease)(first));
    DONE(CALL(cuMulticastUnbind)(object, 0, 0, kBytes));
    DONE(CALL(cuMulticastUnbind)(object, 0, kBytes, kBytes));
    DONE(CALL(cuMulticastBindMem_v2)(object, 0, 0, second, 0, kBytes, 0));
    DONE(CALL(cuMulticastBindAddr_v2)(object, 0, kBytes, address, kBytes, 0));
}

void pools(const Cuda& cuda) {
    cuda.use_device();
    CUmemPoolProps props{};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemoryPool pool = nullptr;
    CUdeviceptr pointers[4] = {};
    DONE(CALL(cuMemAllocAsync)(&pointers[0], kBytes, nullptr));
    DONE(CALL(cuMemAllocAsync_ptsz)(&pointers[1], kBytes, nullptr));
    DONE(CALL(cuMemPoolCreate)(&pool, &props));
    DONE(CALL(cuMemAllocFromPoolAsync)(&pointers[2], kBytes, pool, nullptr));
    DONE(CALL(cuMemAllocFromPoolAsync_ptsz)(&pointers[3], kBytes, pool, nullptr));
    DONE(CALL(cuMemFreeAsync)(pointers[2], nullptr));
    DONE(CALL(cuMemFreeAsync_ptsz)(pointers[3], nullptr));
    DONE(CALL(cuCtxSynchronize)());
    DONE(CALL(cuMemPoolTrimTo)(pool, 0));
    DONE(CALL(cuMemPoolDestroy)(pool));
}

void graphs(const Cuda& cuda) {
    cuda.use_device();
    CUgraph graph = nullptr;
    CUgraphNode allocation = nullptr;
    CUgraphNode release = nullptr;
    CUgraphExec exec = nullptr;
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    params.bytesize = kBytes;
    DONE(CALL(cuGraphCreate)(&graph, 0));
    DONE(CALL(cuGraphAddMemAllocNode)(&allocation, graph, nullptr, 0, &params));
    DONE(CALL(cuGraphAddMemFreeNode)(&release, graph, &allocation, 1, params.dptr));
    // The software driver has no nodes of a kind chosen at run time.
    unsigned char any[512] = {};
    CALL(cuGraphAddNode)(&release, graph, nullptr, 0, any);
    CALL(cuGraphAddNode_v2)(&release, graph, nullptr, nullptr, 0, any);
    CALL(cuGraphAddNode_v3)(&release, graph, nullptr, nullptr, 0, any);
    DONE(CALL(cuGraphInstantiateWithFlags)(&exec, graph, 0));
    DONE(CALL(cuGraphUpload)(exec, nullptr));
    DONE(CALL(cuGraphUpload_ptsz)(exec, nullptr));
    DONE(CALL(cuGraphLaunch)(exec, nullptr));
    DONE(CALL(cuGraphLaunch_ptsz)(exec, nullptr));
    DONE(CALL(cuCtxSynchronize)());
    DONE(CALL(cuDeviceGraphMemTrim)(0));
}

// Memory of the neighbour's, for others to open.
CUipcMemHandle& neighbours_memory() {
    static void* const at =
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    return *static_cast<CUipcMemHandle*>(at);
}

void shared_memory(const Cuda& cuda) {
    cuda.use_device();
    CUdeviceptr own = 0;
    CUdeviceptr others = 0;
    CUipcMemHandle handle{};
    DONE(CALL(cuMemAlloc_v2)(&own, kBytes));
    DONE(CALL(cuIpcGetMemHandle)(&handle, own));
    DONE(CALL(cuIpcOpenMemHandle_v2)(&others, neighbours_memory(), 1));
    DONE(CALL(cuIpcCloseMemHandle)(others));
    int file = -1;
    CUmemGenericAllocationHandle imported = 0;
    constexpr auto kType = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    const CUmemGenericAllocationHandle physical = create(kType);
    DONE(CALL(cuMemExportToShareableHandle)(&file, physical, kType, 0));
    void* const shareable = reinterpret_cast<void*>(static_cast<std::intptr_t>(file));
    DONE(CALL(cuMemImportFromShareableHandle)(&imported, shareable, kType));
}

struct Killing {
    void (*life)(const Cuda&);
    std::vector<const char*> in;
    // Of the GPU, for a moment: what is counted only after the driver gave it.
    std::uint64_t past_limit = 0;
};

const std::vector<Killing>& killings() {
    static const std::vector<Killing> all = {
        {linear, {"cuMemAlloc_v2", "cuMemAllocPitch_v2", "cuMemAllocManaged", "cuMemFree_v2"}},
        {first_versions,
         {"cuCtxCreate", "cuMemAlloc", "cuMemAllocPitch", "cuMemFree", "cuArrayCreate",
          "cuArray3DCreate", "cuCtxDestroy"}},
        {arrays,
         {"cuArrayCreate_v2", "cuArray3DCreate_v2", "cuMipmappedArrayCreate",
          "cuMipmappedArrayDestroy", "cuArrayDestroy"}},
        {contexts,
         {"cuCtxCreate_v2", "cuCtxDestroy_v2", "cuCtxCreate_v3", "cuCtxCreate_v4",
          "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxReset_v2",
          "cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxRelease", "cuGLCtxCreate",
          "cuGLCtxCreate_v2", "cuVDPAUCtxCreate", "cuVDPAUCtxCreate_v2"}},
        {green_contexts, {"cuGreenCtxCreate", "cuGreenCtxDestroy"}},
        {handles,
         {"cuMemCreate", "cuMemMap", "cuMemRelease", "cuMemRetainAllocationHandle", "cuMemUnmap"}},
        {multicast,
         {"cuMulticastCreate", "cuMulticastBindMem", "cuMulticastBindAddr", "cuMulticastBindMem_v2",
          "cuMulticastBindAddr_v2", "cuMulticastUnbind"}},
        {pools,
         {"cuMemAllocAsync", "cuMemAllocAsync_ptsz", "cuMemAllocFromPoolAsync",
          "cuMemAllocFromPoolAsync_ptsz", "cuMemFreeAsync", "cuMemFreeAsync_ptsz",
          "cuMemPoolTrimTo", "cuMemPoolDestroy"}},
        {graphs,
         {"cuGraphAddMemAllocNode", "cuGraphAddNode", "cuGraphAddNode_v2", "cuGraphAddNode_v3",
          "cuGraphUpload", "cuGraphUpload_ptsz", "cuGraphLaunch", "cuGraphLaunch_ptsz",
          "cuDeviceGraphMemTrim"},
         kBytes},
        {shared_memory,
         {"cuIpcGetMemHandle", "cuIpcOpenMemHandle_v2", "cuIpcCloseMemHandle",
          "cuMemExportToShareableHandle", "cuMemImportFromShareableHandle"}},
    };
    return all;
}

// Takes what is left of the share, as soon as it can be had.
void fill(const GpuNode& node, const Cuda& cuda, const Killing& killing) {
    ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);  // it is refused at first
    cuda.use_device();
    std::uint64_t left = kKillLimit - kNeighbour - kContext;
    auto* const allocate = CALL(cuMemAlloc_v2);
    MUST(eventually([&] {
        for (std::uint64_t piece = 64 * kMiB; piece >= 2 * kMiB; piece /= 2) {
            CUdeviceptr pointer = 0;
            while (left >= piece && allocate(&pointer, piece) == CUDA_SUCCESS) {
                left -= piece;
                MUST(cuda.really_used() <= kKillLimit + killing.past_limit);
            }
        }
        return left == 0;
    }));
    CUdeviceptr more = 0;
    MUST(allocate(&more, 2 * kMiB) == CUDA_ERROR_OUT_OF_MEMORY);
    MUST(node.charged() == kKillLimit);
    MUST(cuda.really_used() == kKillLimit);
}

class Dying {
  public:
    Dying() : driver_(::getenv("BERTH_VGPU_DRIVER")) {
        ::setenv("BERTH_BEHIND", driver_.c_str(), 1);
        ::setenv("BERTH_VGPU_DRIVER", BERTH_DEADLY_DRIVER, 1);
    }
    ~Dying() {
        ::setenv("BERTH_VGPU_DRIVER", driver_.c_str(), 1);
        ::unsetenv("BERTH_BEHIND");
    }
    Dying(const Dying&) = delete;
    Dying& operator=(const Dying&) = delete;

    // How a process ends that lives so.
    static int of(const Killing& killing, const std::string& where) {
        ::setenv("BERTH_DEADLY", where.c_str(), 1);
        const int end = run(killing.life);
        ::unsetenv("BERTH_DEADLY");
        return end;
    }

  private:
    std::string driver_;
};

// Uses its part of the share throughout.
pid_t start_neighbour(const GpuNode& node) {
    neighbours_memory();
    const pid_t neighbour = start([] {
        const Cuda cuda;
        cuda.use_device();
        CUdeviceptr pointer = 0;
        DONE(CALL(cuMemAlloc_v2)(&pointer, kNeighbour - kContext));
        DONE(CALL(cuIpcGetMemHandle)(&neighbours_memory(), pointer));
        ::pause();
        return 0;
    });
    REQUIRE(eventually([&] { return node.charged() == kNeighbour; }));
    return neighbour;
}

}  // namespace

TEST_CASE("killed in any call, before or after the driver acts, a process leaves its share whole") {
    // What the dead had is the GPU's again a while after they died.
    const GpuNode node("memory=512M", {"--nvml", ::getenv("BERTH_VGPU_NVML")},
                       "memory=4GiB;release_delay_ms=20");
    const Dying dying;
    const pid_t neighbour = start_neighbour(node);
    const auto is_alone = [&] { return node.charged() == kNeighbour; };
    for (const Killing& killing : killings()) {
        REQUIRE(eventually(is_alone));
        CHECK(Dying::of(killing, "") == 0);
        for (const char* name : killing.in) {
            for (const char* point : {":enter:1", ":leave:1"}) {
                const std::string where = std::string(name) + point;
                CAPTURE(where);
                REQUIRE(eventually(is_alone));
                CHECK(Dying::of(killing, where) == 128 + SIGKILL);
                succeeds(run([&](const Cuda& cuda) { fill(node, cuda, killing); }));
            }
        }
    }
    ::kill(neighbour, SIGKILL);
    CHECK(end_of(neighbour) == 128 + SIGKILL);
    REQUIRE(eventually([&] { return node.charged() == 0; }));
    succeeds(run([&](const Cuda& cuda) {
        cuda.use_device();
        CUdeviceptr all = 0;
        DONE(CALL(cuMemAlloc_v2)(&all, kKillLimit - kContext));
        MUST(node.charged() == kKillLimit);
        MUST(cuda.really_used() == kKillLimit);
    }));
}
