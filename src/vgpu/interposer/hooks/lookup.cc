// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/hooks/lookup.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <atomic>

#include "vgpu/interposer/complain.h"
#include "vgpu/interposer/driver/trampolines.h"
#include "vgpu/interposer/hooks/report.h"
#include "vgpu/interposer/process/charged_call.h"

namespace berth::vgpu::interposer {
namespace {

template <class Function>
void* address(Function* function) {
    return reinterpret_cast<void*>(function);
}

#define BERTH_HOOK(exported, asked, since, per_thread) \
    {#exported, #asked, since, per_thread, address(&::exported)}
const Hook hooks[] = {
    BERTH_HOOK(cuInit, cuInit, 2000, false),
    BERTH_HOOK(cuGetProcAddress, cuGetProcAddress, 11030, false),
    BERTH_HOOK(cuGetProcAddress_v2, cuGetProcAddress, 12000, false),
    BERTH_HOOK(cuCtxCreate, cuCtxCreate, 2000, false),
    BERTH_HOOK(cuCtxDestroy, cuCtxDestroy, 2000, false),
    BERTH_HOOK(cuDeviceTotalMem, cuDeviceTotalMem, 2000, false),
    BERTH_HOOK(cuMemGetInfo, cuMemGetInfo, 2000, false),
    BERTH_HOOK(cuMemAlloc, cuMemAlloc, 2000, false),
    BERTH_HOOK(cuMemAllocPitch, cuMemAllocPitch, 2000, false),
    BERTH_HOOK(cuMemFree, cuMemFree, 2000, false),
    BERTH_HOOK(cuArrayCreate, cuArrayCreate, 2000, false),
    BERTH_HOOK(cuArray3DCreate, cuArray3DCreate, 2000, false),
    BERTH_HOOK(cuDeviceTotalMem_v2, cuDeviceTotalMem, 3020, false),
    BERTH_HOOK(cuMemGetInfo_v2, cuMemGetInfo, 3020, false),
    BERTH_HOOK(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000, false),
    BERTH_HOOK(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease, 7000, false),
    BERTH_HOOK(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease, 11000, false),
    BERTH_HOOK(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset, 7000, false),
    BERTH_HOOK(cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset, 11000, false),
    BERTH_HOOK(cuCtxCreate_v2, cuCtxCreate, 3020, false),
    BERTH_HOOK(cuCtxCreate_v3, cuCtxCreate, 11040, false),
    BERTH_HOOK(cuCtxCreate_v4, cuCtxCreate, 12050, false),
    BERTH_HOOK(cuCtxDestroy_v2, cuCtxDestroy, 4000, false),
    BERTH_HOOK(cuMemAlloc_v2, cuMemAlloc, 3020, false),
    BERTH_HOOK(cuMemAllocPitch_v2, cuMemAllocPitch, 3020, false),
    BERTH_HOOK(cuMemAllocManaged, cuMemAllocManaged, 6000, false),
    BERTH_HOOK(cuMemFree_v2, cuMemFree, 3020, false),
    BERTH_HOOK(cuMemCreate, cuMemCreate, 10020, false),
    BERTH_HOOK(cuMemRelease, cuMemRelease, 10020, false),
    BERTH_HOOK(cuMemMap, cuMemMap, 10020, false),
    BERTH_HOOK(cuMemUnmap, cuMemUnmap, 10020, false),
    BERTH_HOOK(cuMemRetainAllocationHandle, cuMemRetainAllocationHandle, 11000, false),
    BERTH_HOOK(cuMulticastCreate, cuMulticastCreate, 12010, false),
    BERTH_HOOK(cuMulticastBindMem, cuMulticastBindMem, 12010, false),
    BERTH_HOOK(cuMulticastBindAddr, cuMulticastBindAddr, 12010, false),
    BERTH_HOOK(cuMulticastBindMem_v2, cuMulticastBindMem, 13010, false),
    BERTH_HOOK(cuMulticastBindAddr_v2, cuMulticastBindAddr, 13010, false),
    BERTH_HOOK(cuMulticastUnbind, cuMulticastUnbind, 12010, false),
    BERTH_HOOK(cuGreenCtxCreate, cuGreenCtxCreate, 12040, false),
    BERTH_HOOK(cuGreenCtxDestroy, cuGreenCtxDestroy, 12040, false),
    BERTH_HOOK(cuGLCtxCreate, cuGLCtxCreate, 2000, false),
    BERTH_HOOK(cuGLCtxCreate_v2, cuGLCtxCreate, 3020, false),
    BERTH_HOOK(cuVDPAUCtxCreate, cuVDPAUCtxCreate, 3010, false),
    BERTH_HOOK(cuVDPAUCtxCreate_v2, cuVDPAUCtxCreate, 3020, false),
    BERTH_HOOK(cuLogicalEndpointCreate, cuLogicalEndpointCreate, 13030, false),
    BERTH_HOOK(cuLogicalEndpointImport, cuLogicalEndpointImport, 13030, false),
    BERTH_HOOK(cuMemAllocAsync, cuMemAllocAsync, 11020, false),
    BERTH_HOOK(cuMemAllocAsync_ptsz, cuMemAllocAsync, 11020, true),
    BERTH_HOOK(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, 11020, false),
    BERTH_HOOK(cuMemAllocFromPoolAsync_ptsz, cuMemAllocFromPoolAsync, 11020, true),
    BERTH_HOOK(cuMemFreeAsync, cuMemFreeAsync, 11020, false),
    BERTH_HOOK(cuMemFreeAsync_ptsz, cuMemFreeAsync, 11020, true),
    BERTH_HOOK(cuMemPoolTrimTo, cuMemPoolTrimTo, 11020, false),
    BERTH_HOOK(cuMemPoolCreate, cuMemPoolCreate, 11020, false),
    BERTH_HOOK(cuMemPoolDestroy, cuMemPoolDestroy, 11020, false),
    BERTH_HOOK(cuDeviceGraphMemTrim, cuDeviceGraphMemTrim, 11040, false),
    BERTH_HOOK(cuGraphAddMemAllocNode, cuGraphAddMemAllocNode, 11040, false),
    BERTH_HOOK(cuGraphAddNode, cuGraphAddNode, 12020, false),
    BERTH_HOOK(cuGraphAddNode_v2, cuGraphAddNode, 12030, false),
    BERTH_HOOK(cuGraphAddNode_v3, cuGraphAddNode, 13040, false),
    BERTH_HOOK(cuGraphUpload, cuGraphUpload, 11010, false),
    BERTH_HOOK(cuGraphUpload_ptsz, cuGraphUpload, 11010, true),
    BERTH_HOOK(cuArrayCreate_v2, cuArrayCreate, 3020, false),
    BERTH_HOOK(cuArray3DCreate_v2, cuArray3DCreate, 3020, false),
    BERTH_HOOK(cuArrayDestroy, cuArrayDestroy, 2000, false),
    BERTH_HOOK(cuMipmappedArrayCreate, cuMipmappedArrayCreate, 5000, false),
    BERTH_HOOK(cuMipmappedArrayDestroy, cuMipmappedArrayDestroy, 5000, false),
    BERTH_HOOK(cuLaunch, cuLaunch, 2000, false),
    BERTH_HOOK(cuLaunchGrid, cuLaunchGrid, 2000, false),
    BERTH_HOOK(cuLaunchGridAsync, cuLaunchGridAsync, 2000, false),
    BERTH_HOOK(cuLaunchKernel, cuLaunchKernel, 4000, false),
    BERTH_HOOK(cuLaunchKernel_ptsz, cuLaunchKernel, 7000, true),
    BERTH_HOOK(cuLaunchKernelEx, cuLaunchKernelEx, 11060, false),
    BERTH_HOOK(cuLaunchKernelEx_ptsz, cuLaunchKernelEx, 11060, true),
    BERTH_HOOK(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, 9000, false),
    BERTH_HOOK(cuLaunchCooperativeKernel_ptsz, cuLaunchCooperativeKernel, 9000, true),
    BERTH_HOOK(cuLaunchCooperativeKernelMultiDevice, cuLaunchCooperativeKernelMultiDevice, 9000,
               false),
    BERTH_HOOK(cuGraphLaunch, cuGraphLaunch, 10000, false),
    BERTH_HOOK(cuGraphLaunch_ptsz, cuGraphLaunch, 10000, true),
    BERTH_HOOK(cuCtxSynchronize, cuCtxSynchronize, 2000, false),
    BERTH_HOOK(cuCtxSynchronize_v2, cuCtxSynchronize, 13000, false),
    BERTH_HOOK(cuStreamSynchronize, cuStreamSynchronize, 2000, false),
    BERTH_HOOK(cuStreamSynchronize_ptsz, cuStreamSynchronize, 7000, true),
    BERTH_HOOK(cuEventSynchronize, cuEventSynchronize, 2000, false),
    BERTH_HOOK(cuMemcpyDtoH_v2, cuMemcpyDtoH, 3020, false),
    BERTH_HOOK(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH, 7000, true),
};
#undef BERTH_HOOK
constexpr std::size_t kHooks = sizeof hooks / sizeof hooks[0];

struct Pair {
    void* real = nullptr;
    void* hook = nullptr;
};
Pair pairs[kHooks];  // by real
pthread_once_t paired = PTHREAD_ONCE_INIT;

void pair() {
    for (std::size_t index = 0; index < kHooks; ++index)
        pairs[index] = {real_function(hooks[index].exported), hooks[index].function};
    std::sort(std::begin(pairs), std::end(pairs),
              [](const Pair& one, const Pair& other) { return one.real < other.real; });
}

void* by_answer(void* answer) {
    ::pthread_once(&paired, pair);
    const Pair* found =
        std::lower_bound(std::begin(pairs), std::end(pairs), answer,
                         [](const Pair& pair, void* real) { return pair.real < real; });
    return found != std::end(pairs) && found->real == answer ? found->hook : nullptr;
}

// A driver may answer with another address than the one it exports.
const Hook* by_name(const char* symbol, int version, bool per_thread) {
    const Hook* best = nullptr;
    for (const Hook& hook : hooks) {
        if (::strcmp(hook.asked, symbol) != 0 || hook.since > version) continue;
        if (hook.per_thread && !per_thread) continue;
        const bool fits_better = best == nullptr || hook.per_thread > best->per_thread ||
                                 (hook.per_thread == best->per_thread && hook.since > best->since);
        if (fits_better) best = &hook;
    }
    return best;
}

bool is_exported(const char* symbol) {
    const auto end = berth_driver_names + berth_driver_count;
    return std::binary_search(
        berth_driver_names, end, symbol,
        [](const char* one, const char* other) { return ::strcmp(one, other) < 0; });
}

// NVIDIA's runtime of 13.5 looks them up at each start; no header declares them.
bool is_asked_by_habit(const char* symbol) { return ::strncmp(symbol, "cuSubgrid", 9) == 0; }

bool has_share() {
    const char* socket = ::getenv("BERTH_VGPU_SOCKET");
    return socket != nullptr && socket[0] != 0;
}

std::atomic<std::uint64_t> refused{0};

// One line for a process.
void say_refused(const char* symbol, int version) {
    static std::atomic<bool> is_said{false};
    if (is_asked_by_habit(symbol) || is_said.exchange(true)) return;
    complain(
        "the driver has %s (CUDA %d.%d), newer than the CUDA %d.%d that this Berth can count: in a "
        "share of a GPU programs do not get it; if one needs it, take whole GPUs or a newer Berth",
        symbol, version / 1000, version % 1000 / 10, kKnownVersion / 1000,
        kKnownVersion % 1000 / 10);
}

bool is_per_thread(cuuint64_t flags) {
    return (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
}

// Puts what the program gets in place of what the driver answered.
CUresult hand_out(const char* symbol, void** function, int version, cuuint64_t flags) {
    if (symbol == nullptr || function == nullptr || *function == nullptr) return CUDA_SUCCESS;
    const Known known = known_of(symbol, *function, version, is_per_thread(flags));
    if (!known.is_known && has_share()) {
        ++refused;
        say_refused(symbol, version);
        *function = nullptr;
        return CUDA_ERROR_NOT_FOUND;
    }
    *function = known.hook != nullptr ? known.hook : noting(*function);
    return CUDA_SUCCESS;
}

}  // namespace

Known known_of(const char* symbol, void* answer, int version, bool per_thread) {
    if (void* hook = by_answer(answer)) return {true, hook};
    const Hook* hook = by_name(symbol, version, per_thread);
    if (hook == nullptr) return {symbol[0] == 0 || is_exported(symbol), nullptr};
    if (version > kKnownVersion) return {false, nullptr};
    return {true, hook->function};
}

}  // namespace berth::vgpu::interposer

using namespace berth::vgpu::interposer;

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
    const RealDriver& real = load_real_driver();
    if (real.cuGetProcAddress == nullptr) return missing();
    const CUresult result = real.cuGetProcAddress(symbol, function, version, flags);
    return result == CUDA_SUCCESS ? hand_out(symbol, function, version, flags) : result;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
    const RealDriver& real = load_real_driver();
    if (real.cuGetProcAddress_v2 == nullptr) return missing();
    const CUresult result = real.cuGetProcAddress_v2(symbol, function, version, flags, status);
    if (result != CUDA_SUCCESS) return result;
    const CUresult given = hand_out(symbol, function, version, flags);
    if (given != CUDA_SUCCESS && status != nullptr) *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return given;
}

BerthVgpuReport berth_vgpu_report() {
    BerthVgpuReport report{};
    report.is_tenant = is_tenant() ? 1 : 0;
    report.refused = refused;
    return report;
}
