// SPDX-License-Identifier: Apache-2.0
#include "vgpu/probe/context.h"

#include <dlfcn.h>
#include <unistd.h>

#include "vgpu/abi/cuda.h"
#include "vgpu/arbiter/gpus/gpu_memory.h"

namespace berth::vgpu::probe {
namespace {

tl::unexpected<base::Error> unavailable(const std::string& what) {
    return base::fail(base::ErrorCode::Unavailable, what);
}

// It stays until this process ends.
base::Status make_context() {
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return unavailable(::dlerror());
    const auto init = reinterpret_cast<decltype(&cuInit)>(::dlsym(library, "cuInit"));
    const auto retain = reinterpret_cast<decltype(&cuDevicePrimaryCtxRetain)>(
        ::dlsym(library, "cuDevicePrimaryCtxRetain"));
    if (init == nullptr || retain == nullptr) return unavailable("libcuda.so.1 is not a driver");
    CUcontext context = nullptr;
    CUresult result = init(0);
    if (result == CUDA_SUCCESS) result = retain(&context, 0);
    if (result == CUDA_SUCCESS) return {};
    return unavailable("the driver makes no context: it answers " + std::to_string(result));
}

}  // namespace

base::Result<base::Bytes> context_bytes(const std::string& nvml, const std::string& gpu) {
    const arbiter::GpuMemory memory(nvml);
    BERTH_TRY_VOID(make_context());
    const auto holders = memory.holders(gpu);
    if (!holders) return unavailable("the management library does not say who holds memory");
    const auto own = holders->find(::getpid());
    if (own == holders->end())
        return unavailable("the management library knows this process by another number");
    return base::Bytes{static_cast<std::int64_t>(own->second)};
}

}  // namespace berth::vgpu::probe
