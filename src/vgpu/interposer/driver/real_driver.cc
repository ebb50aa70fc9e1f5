// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/driver/real_driver.h"

#include <dlfcn.h>
#include <pthread.h>

#include "vgpu/behind/behind.h"
#include "vgpu/interposer/complain.h"
#include "vgpu/interposer/driver/trampolines.h"

namespace berth::vgpu::interposer {
namespace {

pthread_once_t once = PTHREAD_ONCE_INIT;

void load() {
    RealDriver& driver = real_driver;
    const behind::Opened opened = behind::open_behind({"libcuda.so.1", "BERTH_VGPU_DRIVER"});
    driver.library = opened.library;
    if (driver.library == nullptr) {
        if (opened.reason[0] != 0) complain("%s", opened.reason);
        return real_driver_is_loaded.store(true);
    }
#define BERTH_LOAD(name) \
    driver.name = reinterpret_cast<decltype(driver.name)>(::dlsym(driver.library, #name));
    BERTH_DRIVER_FUNCTIONS(BERTH_LOAD)
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

bool is_capturing(CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const RealDriver& real = load_real_driver();
    return real.cuStreamIsCapturing != nullptr &&
           (real.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
            status != CU_STREAM_CAPTURE_STATUS_NONE);
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
