// SPDX-License-Identifier: Apache-2.0
#include "vgpu/api.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace berth::test_vgpu {
namespace {

std::string state_path;

void remove_state() {
    if (!state_path.empty()) ::unlink(state_path.c_str());
}

// Only the software driver reads it, and removes it from the machine when the test ends.
void describe_gpus() {
    if (std::getenv("BERTH_SOFTWARE_GPU") != nullptr) return;
    state_path = "/dev/shm/berth_vgpu_test." + std::to_string(::getpid());
    const std::string text =
        "state=" + state_path + "; gpus=2; memory=2GiB; reserved=64MiB; context=32MiB; driver=13.0";
    ::setenv("BERTH_SOFTWARE_GPU", text.c_str(), 1);
    std::atexit(remove_state);
}

void* open_library(const char* name) {
    describe_gpus();
    void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return library;
    std::fprintf(stderr, "%s; set LD_LIBRARY_PATH to the software driver's folder\n", ::dlerror());
    std::abort();
}

Cuda open_cuda() {
    Cuda cuda;
    void* library = open_library("libcuda.so.1");
    cuda.look_up =
        reinterpret_cast<decltype(&cuGetProcAddress_v2)>(::dlsym(library, "cuGetProcAddress_v2"));
#define BERTH_TEST_FIND(name, function) cuda.name = cuda.find_as<decltype(function)>(#name, 12020);
    BERTH_TEST_CUDA(BERTH_TEST_FIND)
#undef BERTH_TEST_FIND
    if (cuda.cuInit == nullptr || cuda.cuInit(0) != CUDA_SUCCESS) {
        std::fprintf(stderr, "cuInit failed\n");
        std::abort();
    }
    return cuda;
}

}  // namespace

void* Cuda::find(const char* name, int version, cuuint64_t flags,
                 CUdriverProcAddressQueryResult* status, CUresult* result) const {
    void* function = nullptr;
    const CUresult got = look_up(name, &function, version, flags, status);
    if (result != nullptr) *result = got;
    return got == CUDA_SUCCESS ? function : nullptr;
}

const Cuda& cuda() {
    static const Cuda opened = open_cuda();
    return opened;
}

void* nvml_symbol(const char* name) {
    static void* library = open_library("libnvidia-ml.so.1");
    return ::dlsym(library, name);
}

nvmlDevice_t nvml_device() {
    static const nvmlReturn_t begun = nvml<decltype(nvmlInit_v2)>("nvmlInit_v2")();
    nvmlDevice_t device = nullptr;
    if (begun == NVML_SUCCESS)
        nvml<decltype(nvmlDeviceGetHandleByIndex_v2)>("nvmlDeviceGetHandleByIndex_v2")(0, &device);
    return device;
}

bool is_software() {
    char name[64] = {};
    cuda().cuDeviceGetName(name, sizeof(name), 0);
    return std::string(name) == "Software GPU";
}

PrimaryContext::PrimaryContext() {
    CUcontext context = nullptr;
    cuda().cuDevicePrimaryCtxRetain(&context, 0);
    cuda().cuCtxSetCurrent(context);
}

PrimaryContext::~PrimaryContext() {
    cuda().cuCtxSetCurrent(nullptr);
    cuda().cuDevicePrimaryCtxReset(0);
}

std::uint64_t used_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    cuda().cuMemGetInfo(&free, &total);
    return total - free;
}

}  // namespace berth::test_vgpu
