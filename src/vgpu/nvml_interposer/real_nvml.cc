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

RealNvml nvml;
pthread_once_t once = PTHREAD_ONCE_INIT;

void load() {
    const behind::Opened opened = behind::open_behind({"libnvidia-ml.so.1", "BERTH_VGPU_NVML"});
    nvml.library = opened.library;
    if (nvml.library == nullptr) {
        if (opened.reason[0] != 0) ::dprintf(STDERR_FILENO, "berth: %s\n", opened.reason);
        return;
    }
#define BERTH_LOAD(name) \
    nvml.name = reinterpret_cast<decltype(nvml.name)>(::dlsym(nvml.library, #name));
    BERTH_NVML_FUNCTIONS(BERTH_LOAD)
#undef BERTH_LOAD
}

nvmlReturn_t no_driver() { return NVML_ERROR_DRIVER_NOT_LOADED; }

}  // namespace

const RealNvml& load_real_nvml() {
    ::pthread_once(&once, load);
    return nvml;
}

}  // namespace berth::vgpu::nvml_interposer

void* berth_nvml_resolve(unsigned index) {
    using namespace berth::vgpu::nvml_interposer;
    void* const library = load_real_nvml().library;
    void* target = library == nullptr ? nullptr : ::dlsym(library, berth_nvml_names[index]);
    if (target == nullptr)
        target = reinterpret_cast<void*>(library == nullptr ? no_driver : missing);
    __atomic_store_n(&berth_nvml_targets[index], target, __ATOMIC_RELEASE);
    return target;
}
