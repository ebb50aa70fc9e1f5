// SPDX-License-Identifier: Apache-2.0
//
// A program that any C library can start, for it has none of this machine's start files: it asks
// for the driver as programs do and ends with what cuInit says, or with 125 when it gets none.
#include <dlfcn.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

int init() {
    void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    auto* const init = driver == nullptr
                           ? nullptr
                           : reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
    if (init == nullptr) {
        ::dprintf(STDERR_FILENO, "%s\n", ::dlerror());
        return 125;
    }
    return init(0) & 127;
}

}  // namespace

// What the loader jumps to, and no function calls: on x86_64 it has to align the stack.
extern "C" [[noreturn]] void begin() {
    ::syscall(SYS_exit_group, init());
    __builtin_unreachable();
}
