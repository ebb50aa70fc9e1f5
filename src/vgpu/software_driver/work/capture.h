// SPDX-License-Identifier: Apache-2.0
//
// How does the work of a stream come to be in a graph instead of on the GPU?
#pragma once

#include <functional>

#include "vgpu/abi/cuda.h"
#include "vgpu/software_driver/work/stream.h"

namespace berth::vgpu::software_driver {

struct Allocation;

// Adds the operation to the graph that the stream is captured into.
CUresult capture_operation(Stream& stream, Operation operation);

// Nodes that allocate and free; the address is known at once.
CUresult capture_allocation(Driver& driver, Stream& stream, CUdeviceptr* to, std::size_t bytes);
CUresult capture_free(Driver& driver, Stream& stream, CUdeviceptr pointer);

// What a node does that frees memory of a graph.
std::function<void()> free_effect(Driver& driver, CUdeviceptr pointer);

// Gives memory of a graph back to the GPU's graph memory, outside of any graph.
CUresult free_graph_memory(Driver& driver, const Allocation& allocation);

}  // namespace berth::vgpu::software_driver
