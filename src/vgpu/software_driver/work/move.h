// SPDX-License-Identifier: Apache-2.0
//
// What does a copy or a fill do to memory?
//
// A box of bytes, `width` x `rows` x `layers`, goes from one place to another. Where GPU memory has
// no contents nothing is written, and zeros are read.
#pragma once

#include "vgpu/abi/cuda.h"
#include "vgpu/software_driver/work/stream.h"

namespace berth::vgpu::software_driver {

struct Place {
    std::uintptr_t address = 0;
    bool is_device = false;
    std::size_t pitch = 0;  // bytes from row to row
    std::size_t layer_rows = 0;  // rows from layer to layer
};

struct Box {
    std::size_t width = 0;  // bytes
    std::size_t rows = 1;
    std::size_t layers = 1;
    std::size_t bytes() const { return width * rows * layers; }
};

struct Copy {
    Place to;
    Place from;
    Box box;
};

Place device_place(CUdeviceptr pointer, std::size_t pitch = 0, std::size_t layer_rows = 0);
Place host_place(const void* pointer, std::size_t pitch = 0, std::size_t layer_rows = 0);
// Whichever of the two the address is.
Place any_place(Driver& driver, CUdeviceptr pointer);

// True when all of the box lies in one allocation, or in mappings that follow one another; always
// for host memory.
bool is_inside(Driver& driver, const Place& place, const Box& box);

// When a copy from pageable host memory reads it: a graph does so at each launch.
enum class ReadHost { Now, WhenItRuns };

Operation copy_operation(Driver& driver, const Copy& copy, ReadHost when);

// An operation that repeats the `unit_bytes` low bytes of `value`.
Operation fill_operation(Driver& driver, const Place& to, const Box& box, std::uint32_t value,
                         std::size_t unit_bytes);

// True when the program may touch the memory at `place` the moment the call returns.
bool is_pageable(Driver& driver, const Place& place);

}  // namespace berth::vgpu::software_driver
