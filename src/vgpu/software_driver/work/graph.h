// SPDX-License-Identifier: Apache-2.0
//
// What is in a graph of work, and how does a stream's work come to be in one?
//
// Nodes run one after the other in the order they were added, which every order of dependencies
// allows. Memory that a graph allocates has its address from the start and its pages from the
// first launch on; they stay with the GPU's graph memory until that is trimmed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "vgpu/abi/cuda.h"
#include "vgpu/software_driver/work/stream.h"

namespace berth::vgpu::software_driver {

struct Gpu;
struct HeldBlock;

struct GraphNode {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    Operation operation;
    CUdeviceptr pointer = 0;  // of a node that allocates or frees
    std::uint64_t bytes = 0;
    CUdevice device = 0;
};

struct Graph {
    std::vector<std::unique_ptr<GraphNode>> nodes;
};

struct GraphExec {
    std::vector<GraphNode> nodes;
    bool frees_on_launch = false;
};

// A capture that is under way, from its first stream's begin to its end.
struct Capture {
    Graph* graph = nullptr;
    const Stream* origin = nullptr;
    unsigned long long id = 0;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    std::set<const Stream*> unjoined;  // other streams whose work the origin does not wait for yet
};

// Of a GPU: what graphs took and have not given back.
struct GraphMemory {
    struct Piece {
        HeldBlock* block = nullptr;  // null: never launched, or trimmed
        std::uint64_t bytes = 0;
        bool is_used = false;
    };
    std::map<CUdeviceptr, Piece> pieces;
    std::uint64_t used_high = 0;
    std::uint64_t reserved_high = 0;

    std::uint64_t used_bytes() const;
    std::uint64_t reserved_bytes() const;
};

// The node with that handle, of any graph; null when there is none.
GraphNode* find_node(Driver& driver, CUgraphNode handle);

// A node that allocates, with its address; null when there are no addresses.
GraphNode* add_allocation(Driver& driver, Graph& graph, CUdevice device, std::size_t bytes);

// Puts pages behind all that the graph allocates. False when there are not enough.
bool back_memory(Driver& driver, const GraphExec& exec);

// Puts the graph's work into the stream.
CUresult launch(Driver& driver, const GraphExec& exec, Stream& stream);

// Gives the pages of what is not used back to the GPU.
void trim_graph_memory(Driver& driver, Gpu& gpu);

}  // namespace berth::vgpu::software_driver
