// SPDX-License-Identifier: Apache-2.0
//
// What keeps a GPU at work, and when a program begins with it.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "driver.h"
#include "vgpu/spin_kernel.h"

namespace berth::bench {

// A kernel that takes as many nanoseconds as its parameter says.
inline CUfunction load_spin() {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    must(look_up<decltype(cuModuleLoadData)>("cuModuleLoadData")(&module,
                                                                 berth::test_vgpu::kSpinKernel),
         "module");
    must(look_up<decltype(cuModuleGetFunction)>("cuModuleGetFunction")(&function, module,
                                                                       "berth_spin_ns"),
         "function");
    return function;
}

// Says that it is ready, and waits for a line on standard input.
inline void await_line() {
    char line[16];
    std::puts("ready");
    std::fflush(stdout);
    if (std::fgets(line, sizeof line, stdin) == nullptr) std::exit(1);
}

}  // namespace berth::bench
