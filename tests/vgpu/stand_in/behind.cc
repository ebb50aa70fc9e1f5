// SPDX-License-Identifier: Apache-2.0
#include "vgpu/stand_in/behind.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "vgpu/abi/cuda_values.h"

namespace berth::stand_in {
namespace {

CUresult not_supported() { return CUDA_ERROR_NOT_SUPPORTED; }

void* open_driver() {
    const char* path = std::getenv("BERTH_BEHIND");
    void* library = path == nullptr ? nullptr : ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return library;
    std::fprintf(stderr, "stand-in for a driver: BERTH_BEHIND names none\n");
    std::abort();
}

}  // namespace

void* behind(const char* name) {
    static void* const library = open_driver();
    void* function = ::dlsym(library, name);
    return function != nullptr ? function : reinterpret_cast<void*>(not_supported);
}

}  // namespace berth::stand_in

// Of the trampolines: where the first call of each goes.
extern "C" void* berth_driver_resolve(unsigned index);
void* berth_driver_resolve(unsigned index) {
    void* const target = berth::stand_in::in_place_of(berth_driver_names[index]);
    __atomic_store_n(&berth_driver_targets[index], target, __ATOMIC_RELEASE);
    return target;
}
