// SPDX-License-Identifier: Apache-2.0
//
// The driver as a program finds it that looks its functions up; whatever it refuses ends this one.
#pragma once

#include <dlfcn.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>

#include "vgpu/abi/cuda.h"

namespace berth::bench {

inline void must(CUresult result, const char* what) {
    if (result == CUDA_SUCCESS) return;
    std::fprintf(stderr, "berth-bench: %s: error %u\n", what, result);
    std::exit(1);
}

template <class Function>
Function* look_up(const char* name) {
    static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) {
        std::fprintf(stderr, "berth-bench: %s\n", ::dlerror());
        std::exit(1);
    }
    static auto* const get =
        reinterpret_cast<decltype(&cuGetProcAddress_v2)>(::dlsym(library, "cuGetProcAddress_v2"));
    void* function = nullptr;
    if (get == nullptr || get(name, &function, 12000, 0, nullptr) != CUDA_SUCCESS) {
        std::fprintf(stderr, "berth-bench: the driver has no %s\n", name);
        std::exit(1);
    }
    return reinterpret_cast<Function*>(function);
}

// The primary context of the first GPU, current on this thread.
inline void use_first_gpu() {
    CUcontext context = nullptr;
    must(look_up<decltype(cuInit)>("cuInit")(0), "init");
    must(look_up<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain")(&context, 0),
         "context");
    must(look_up<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent")(context), "context");
}

inline double now_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

}  // namespace berth::bench
