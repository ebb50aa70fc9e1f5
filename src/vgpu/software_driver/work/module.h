// SPDX-License-Identifier: Apache-2.0
//
// Which kernels are in a module, and what does each do here?
//
// A module is PTX text. Its entries are found by name with the sizes of their parameters; code is
// not run. Four names do what the test kernels of the same name do on a GPU:
//
//   berth_spin_ns(u64 ns)                        keeps its multiprocessors for that time
//   berth_add1(u64 pointer, u32 count)           adds 1 to each of `count` u32
//   berth_fill(u64 pointer, u32 value, u32 count)  sets each of `count` u32
//   berth_copy(u64 to, u64 from, u32 count)      copies `count` u32
//
// Any other kernel only takes its time (`kernel_us`).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/abi/cuda.h"

namespace berth::vgpu::software_driver {

struct Context;
struct Driver;
struct HeldBlock;

enum class Behaviour { TakesTime, Spin, Add1, Fill, Copy };

struct Entry {
    std::string name;
    std::vector<std::size_t> parameter_bytes;
    Behaviour behaviour = Behaviour::TakesTime;
};

// The entries of PTX text. Nothing when it is no PTX: without `.version`, or cut short.
std::vector<Entry> entries_of(std::string_view ptx);

struct Module;

struct Function {
    Entry entry;
    Module* module = nullptr;
    int dynamic_shared_bytes = 48 << 10;
    // Kept for launches that do not bring them.
    unsigned int block[3] = {1, 1, 1};
    std::vector<char> arguments = {};
};

struct Module {
    const Context* context = nullptr;  // null: a library, of every context
    bool is_library = false;
    std::vector<Function*> functions;
    CUdeviceptr code = 0;  // its code takes memory on the GPU
};

}  // namespace berth::vgpu::software_driver
