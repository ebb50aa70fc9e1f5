// SPDX-License-Identifier: Apache-2.0
//
// A program that is linked with the driver; says what opener says.
#include <dlfcn.h>

#include <cstdio>

#include "vgpu/abi/cuda.h"

int main() {
    int version = 0;
    const bool works = cuDriverGetVersion(&version) == CUDA_SUCCESS && version > 0;
    Dl_info where{};
    ::dladdr(reinterpret_cast<void*>(&cuDriverGetVersion), &where);
    void* library = ::dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    const bool is_ours = library != nullptr && ::dlsym(library, "berth_vgpu_report") != nullptr;
    std::printf("%s\n", !works ? "a library that does not work" : is_ours ? "ours" : "the driver");
}
