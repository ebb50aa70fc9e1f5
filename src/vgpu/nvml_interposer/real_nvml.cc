// SPDX-License-Identifier: Apache-2.0
#include "vgpu/nvml_interposer/real_nvml.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "vgpu/behind/behind.h"

extern "C" {
extern const char* const berth_nvml_names[];
extern void* berth_nvml_targets[];
__attribute__((visibility("hidden"))) void* berth_nvml_resolve(unsigned index);
}

namespace berth::vgpu::nvml_interposer {
namespace {

void* library = nullptr;
pthread_once_t once = PTHREAD_ONCE_INIT;

void load() {
    const behind::Opened opened = behind::open_behind({"libnvidia-ml.so.1", "BERTH_VGPU_NVML"});
    library = opened.library;
    if (library == nullptr && opened.reason[0] != 0)
        ::dprintf(STDERR_FILENO, "berth: %s\n", opened.reason);
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
