// SPDX-License-Identifier: Apache-2.0
#include "vgpu/nvml_interposer/real_nvml.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

extern "C" {
extern const char* const berth_nvml_names[];
extern void* berth_nvml_targets[];
__attribute__((visibility("hidden"))) void* berth_nvml_resolve(unsigned index);
}

namespace berth::vgpu::nvml_interposer {
namespace {

constexpr const char* kPlaces[] = {"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
                                   "/usr/lib64/libnvidia-ml.so.1",
                                   "/usr/lib/libnvidia-ml.so.1",
                                   "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
                                   "/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
                                   "/run/opengl-driver/lib/libnvidia-ml.so.1",
                                   "/usr/lib/wsl/lib/libnvidia-ml.so.1"};

void* library = nullptr;
pthread_once_t once = PTHREAD_ONCE_INIT;

void load() {
    const char* chosen = ::getenv("BERTH_VGPU_NVML");
    if (chosen != nullptr) {
        // A short name would lead back here.
        if (chosen[0] == '/') library = ::dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
        return;
    }
    for (const char* place : kPlaces)
        if (library == nullptr && ::access(place, R_OK) == 0)
            library = ::dlopen(place, RTLD_NOW | RTLD_LOCAL);
}

nvmlReturn_t missing() { return NVML_ERROR_FUNCTION_NOT_FOUND; }
nvmlReturn_t no_driver() { return NVML_ERROR_DRIVER_NOT_LOADED; }

}  // namespace

void* real_function(const char* name) {
    ::pthread_once(&once, load);
    return library == nullptr ? nullptr : ::dlsym(library, name);
}

}  // namespace berth::vgpu::nvml_interposer

void* berth_nvml_resolve(unsigned index) {
    using namespace berth::vgpu::nvml_interposer;
    void* target = real_function(berth_nvml_names[index]);
    if (target == nullptr)
        target = reinterpret_cast<void*>(library == nullptr ? no_driver : missing);
    __atomic_store_n(&berth_nvml_targets[index], target, __ATOMIC_RELEASE);
    return target;
}
