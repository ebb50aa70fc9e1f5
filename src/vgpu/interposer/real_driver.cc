// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/real_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vgpu/interposer/complain.h"
#include "vgpu/interposer/trampolines.h"

namespace berth::vgpu::interposer {
namespace {

// In the order of likelihood: Debian's multiarch folder, others' lib64, container runtimes, WSL.
constexpr const char* kPlaces[] = {"/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                   "/usr/lib64/libcuda.so.1",
                                   "/usr/lib/libcuda.so.1",
                                   "/usr/local/nvidia/lib64/libcuda.so.1",
                                   "/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                   "/run/opengl-driver/lib/libcuda.so.1",
                                   "/usr/lib/wsl/lib/libcuda.so.1"};

pthread_once_t once = PTHREAD_ONCE_INIT;

// By a name that nobody else uses for it: who asks for the path itself shall not be told that it
// is loaded already, but be asked about (vgpu/audit).
void* open_by_detour(const char* path) {
    char detour[4096];
    const char* slash = ::strrchr(path, '/');
    const int size =
        ::snprintf(detour, sizeof detour, "%.*s/.%s", static_cast<int>(slash - path), path, slash);
    const bool fits = size > 0 && static_cast<std::size_t>(size) < sizeof detour;
    void* library = ::dlopen(fits ? detour : path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) complain("%s", ::dlerror());
    if (library == nullptr || ::dlsym(library, "berth_vgpu_report") == nullptr) return library;
    complain("%s is this library, in the place of the driver; BERTH_VGPU_DRIVER says where that is",
             path);
    ::dlclose(library);
    return nullptr;
}

void* open_library() {
    const char* chosen = ::getenv("BERTH_VGPU_DRIVER");
    if (chosen != nullptr && chosen[0] != '/') {
        complain("BERTH_VGPU_DRIVER=%s is not an absolute path; give one or unset it", chosen);
        return nullptr;
    }
    if (chosen != nullptr) return open_by_detour(chosen);
    for (const char* place : kPlaces) {
        if (::access(place, R_OK) != 0) continue;
        if (void* library = open_by_detour(place)) return library;
    }
    return nullptr;
}

void load() {
    RealDriver& driver = real_driver;
    driver.library = open_library();
    if (driver.library == nullptr) return real_driver_is_loaded.store(true);
#define BERTH_LOAD(name) \
    driver.name = reinterpret_cast<decltype(driver.name)>(::dlsym(driver.library, #name));
    BERTH_REAL_FUNCTIONS(BERTH_LOAD)
#undef BERTH_LOAD
    real_driver_is_loaded.store(true, std::memory_order_release);
}

CUresult not_supported() { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult no_driver() { return CUDA_ERROR_NO_DEVICE; }

}  // namespace

RealDriver real_driver;
std::atomic<bool> real_driver_is_loaded{false};

void load_real_driver_once() { ::pthread_once(&once, load); }

void* real_function(const char* name) {
    const RealDriver& real = load_real_driver();
    return real.library == nullptr ? nullptr : ::dlsym(real.library, name);
}

}  // namespace berth::vgpu::interposer

void* berth_driver_resolve(unsigned index) {
    using namespace berth::vgpu::interposer;
    void* target = real_function(berth_driver_names[index]);
    if (target == nullptr)
        target = reinterpret_cast<void*>(load_real_driver().library == nullptr ? no_driver
                                                                               : not_supported);
    __atomic_store_n(&berth_driver_targets[index], target, __ATOMIC_RELEASE);
    return target;
}
