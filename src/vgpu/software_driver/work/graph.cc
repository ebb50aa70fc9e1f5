// SPDX-License-Identifier: Apache-2.0
#include "vgpu/software_driver/work/graph.h"

#include <algorithm>

#include "vgpu/software_driver/driver.h"
#include "vgpu/software_driver/work/capture.h"

namespace berth::vgpu::software_driver {
namespace {

Gpu& gpu_at(Driver& driver, CUdevice device) {
    return driver.gpus[static_cast<std::size_t>(device)];
}

void note_high(GraphMemory& memory) {
    memory.used_high = std::max(memory.used_high, memory.used_bytes());
    memory.reserved_high = std::max(memory.reserved_high, memory.reserved_bytes());
}

GraphNode* add_node(Graph& graph, GraphNode node) {
    graph.nodes.push_back(std::make_unique<GraphNode>(std::move(node)));
    return graph.nodes.back().get();
}

CUresult check_capture(Stream& stream) {
    if (stream.capture->status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (&stream != stream.capture->origin) stream.capture->unjoined.insert(&stream);
    return CUDA_SUCCESS;
}

CUresult capture_node(Stream& stream, Operation operation, CUdeviceptr pointer) {
    if (const CUresult result = check_capture(stream); result != CUDA_SUCCESS) return result;
    GraphNode node;
    node.type = operation.node_type;
    node.operation = std::move(operation);
    node.pointer = pointer;
    add_node(*stream.capture->graph, std::move(node));
    return CUDA_SUCCESS;
}

}  // namespace

std::uint64_t GraphMemory::used_bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [begin, piece] : pieces) sum += piece.is_used ? piece.bytes : 0;
    return sum;
}

std::uint64_t GraphMemory::reserved_bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [begin, piece] : pieces) sum += piece.block != nullptr ? piece.bytes : 0;
    return sum;
}

GraphNode* find_node(Driver& driver, CUgraphNode handle) {
    for (const auto& [unused, graph] : driver.graphs)
        for (const auto& node : graph->nodes)
            if (node.get() == reinterpret_cast<const GraphNode*>(handle)) return node.get();
    return nullptr;
}

GraphNode* add_allocation(Driver& driver, Graph& graph, CUdevice device, std::size_t bytes) {
    const std::uint64_t whole =
        (bytes + device::kPageBytes - 1) / device::kPageBytes * device::kPageBytes;
    const CUdeviceptr begin = AddressSpace::reserve(whole, device::kPageBytes);
    if (begin == 0) return nullptr;
    gpu_at(driver, device).graph_memory.pieces[begin] = {nullptr, whole, false};
    Allocation allocation;
    allocation.begin = begin;
    allocation.bytes = bytes;
    allocation.origin = Origin::Graph;
    allocation.device = device;
    allocation.has_contents = false;
    driver.memory.add(allocation);
    GraphNode node;
    node.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    node.pointer = begin;
    node.bytes = bytes;
    node.device = device;
    return add_node(graph, std::move(node));
}

bool back_memory(Driver& driver, const GraphExec& exec) {
    for (const GraphNode& node : exec.nodes) {
        if (node.type != CU_GRAPH_NODE_TYPE_MEM_ALLOC) continue;
        Gpu& gpu = gpu_at(driver, node.device);
        GraphMemory::Piece& piece = gpu.graph_memory.pieces[node.pointer];
        if (piece.block == nullptr) {
            HeldBlock* block =
                driver.memory.take_block(node.device, gpu.number, piece.bytes, false);
            if (block == nullptr) return false;
            if (driver.memory.map(*block, 0, piece.bytes, node.pointer) == 0) {
                driver.memory.drop_if_unused(*block);
                return false;
            }
            piece.block = block;
            driver.memory.find(node.pointer)->has_contents = block->file >= 0;
        }
        piece.is_used = true;
        note_high(gpu.graph_memory);
    }
    return true;
}

CUresult launch(Driver& driver, const GraphExec& exec, Stream& stream) {
    if (!back_memory(driver, exec)) return CUDA_ERROR_OUT_OF_MEMORY;
    for (const GraphNode& node : exec.nodes) {
        if (node.type == CU_GRAPH_NODE_TYPE_EMPTY || node.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            continue;
        if (const CUresult result = enqueue(driver, stream, node.operation); result != CUDA_SUCCESS)
            return result;
    }
    return CUDA_SUCCESS;
}

void trim_graph_memory(Driver& driver, Gpu& gpu) {
    for (auto& [begin, piece] : gpu.graph_memory.pieces) {
        if (piece.is_used || piece.block == nullptr) continue;
        driver.memory.unmap(*piece.block, begin, piece.bytes);
        piece.block = nullptr;
        driver.memory.find(begin)->has_contents = false;
    }
}

CUresult capture_operation(Stream& stream, Operation operation) {
    return capture_node(stream, std::move(operation), 0);
}

CUresult capture_allocation(Driver& driver, Stream& stream, CUdeviceptr* to, std::size_t bytes) {
    if (const CUresult result = check_capture(stream); result != CUDA_SUCCESS) return result;
    const GraphNode* node =
        add_allocation(driver, *stream.capture->graph, stream.context->device, bytes);
    if (node == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    *to = node->pointer;
    return CUDA_SUCCESS;
}

CUresult capture_free(Driver& driver, Stream& stream, CUdeviceptr pointer) {
    Operation free;
    free.node_type = CU_GRAPH_NODE_TYPE_MEM_FREE;
    free.effect = free_effect(driver, pointer);
    return capture_node(stream, std::move(free), pointer);
}

std::function<void()> free_effect(Driver& driver, CUdeviceptr pointer) {
    return [&driver, pointer] {
        if (const Allocation* found = driver.memory.find(pointer); found != nullptr)
            free_graph_memory(driver, *found);
    };
}

CUresult free_graph_memory(Driver& driver, const Allocation& allocation) {
    auto& pieces = gpu_at(driver, allocation.device).graph_memory.pieces;
    const auto found = pieces.find(allocation.begin);
    if (found == pieces.end() || !found->second.is_used) return CUDA_ERROR_INVALID_VALUE;
    found->second.is_used = false;
    return CUDA_SUCCESS;
}

}  // namespace berth::vgpu::software_driver
