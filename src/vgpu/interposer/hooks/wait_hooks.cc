// SPDX-License-Identifier: Apache-2.0
//
// Calls in which a program waits for its work. They are passed on; how long they took says where
// an iteration ends, and pools may have given back what was freed.
#include "vgpu/interposer/now.h"
#include "vgpu/interposer/process/charged_call.h"
#include "vgpu/interposer/process/iterating.h"
#include "vgpu/interposer/process/pools.h"

using namespace berth::vgpu::interposer;

namespace {

template <class Function, class... Arguments>
CUresult waiting(Function* real, Arguments... arguments) {
    if (real == nullptr) return missing();
    const InCall in_call;
    if (!is_noting.load(std::memory_order_relaxed)) return real(arguments...);
    const std::int64_t before = now_ns();
    const CUresult result = real(arguments...);
    note_wait(now_ns() - before);
    settle_freed_pools();
    return result;
}

}  // namespace

CUresult cuCtxSynchronize() { return waiting(load_real_driver().cuCtxSynchronize); }

CUresult cuCtxSynchronize_v2(CUcontext context) {
    return waiting(load_real_driver().cuCtxSynchronize_v2, context);
}

CUresult cuStreamSynchronize(CUstream stream) {
    return waiting(load_real_driver().cuStreamSynchronize, stream);
}

CUresult cuStreamSynchronize_ptsz(CUstream stream) {
    return waiting(load_real_driver().cuStreamSynchronize_ptsz, stream);
}

CUresult cuEventSynchronize(CUevent event) {
    return waiting(load_real_driver().cuEventSynchronize, event);
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
    return waiting(load_real_driver().cuMemcpyDtoH_v2, to, from, bytes);
}

CUresult cuMemcpyDtoH_v2_ptds(void* to, CUdeviceptr from, std::size_t bytes) {
    return waiting(load_real_driver().cuMemcpyDtoH_v2_ptds, to, from, bytes);
}
