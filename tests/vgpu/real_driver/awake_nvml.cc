// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's management library (BERTH_BEHIND) on a machine whose driver answers and has no GPU: what
// nvidia-smi asks before it looks at the first GPU is answered here, all else there.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "vgpu/abi/nvml.h"

extern "C" {
extern const char* const berth_nvml_names[];
extern void* berth_nvml_targets[];
__attribute__((visibility("hidden"))) void* berth_nvml_resolve(unsigned index);
#pragma GCC visibility push(default)
nvmlReturn_t nvmlInit();
#pragma GCC visibility pop
}

namespace {

void* open_behind() {
    const char* path = std::getenv("BERTH_BEHIND");
    void* library = path == nullptr ? nullptr : ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return library;
    std::fprintf(stderr, "awake NVML: BERTH_BEHIND names none\n");
    std::abort();
}

nvmlReturn_t missing() { return NVML_ERROR_FUNCTION_NOT_FOUND; }

}  // namespace

void* berth_nvml_resolve(unsigned index) {
    static void* const library = open_behind();
    void* target = ::dlsym(library, berth_nvml_names[index]);
    if (target == nullptr) target = reinterpret_cast<void*>(missing);
    __atomic_store_n(&berth_nvml_targets[index], target, __ATOMIC_RELEASE);
    return target;
}

nvmlReturn_t nvmlInit() { return NVML_SUCCESS; }
nvmlReturn_t nvmlInit_v2() { return NVML_SUCCESS; }
nvmlReturn_t nvmlInitWithFlags(unsigned int) { return NVML_SUCCESS; }
nvmlReturn_t nvmlShutdown() { return NVML_SUCCESS; }

nvmlReturn_t nvmlSystemGetDriverVersion(char* version, unsigned int bytes) {
    std::snprintf(version, bytes, "%s", std::getenv("BERTH_AWAKE_VERSION"));
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* count) {
    *count = 0;
    return NVML_SUCCESS;
}
