// SPDX-License-Identifier: Apache-2.0
//
// Captures, graphs, their nodes and their launches.
#include <algorithm>
#include <cstring>

#include "vgpu/software_driver/api/twin.h"
#include "vgpu/software_driver/driver.h"
#include "vgpu/software_driver/work/box_copy.h"
#include "vgpu/software_driver/work/capture.h"
#include "vgpu/software_driver/work/launch.h"

using namespace berth::vgpu::software_driver;

namespace {

CUgraph handle_of(Graph* graph) { return reinterpret_cast<CUgraph>(graph); }
CUgraphNode handle_of(GraphNode* node) { return reinterpret_cast<CUgraphNode>(node); }

CUresult begin_capture(Default meant, CUstream handle, CUstreamCaptureMode mode) {
    return enter_stream(meant, handle,
                        [&](Driver& driver, Context& context, Stream& stream, Lock&) {
                            if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
                                return CUDA_ERROR_INVALID_VALUE;
                            if (&stream == context.legacy)
                                return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
                            if (stream.capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
                            auto capture = std::make_unique<Capture>();
                            capture->graph = driver.graphs.add(std::make_unique<Graph>());
                            capture->origin = &stream;
                            capture->id = driver.work.next_id++;
                            stream.capture = driver.captures.add(std::move(capture));
                            return CUDA_SUCCESS;
                        });
}

CUresult end_capture(Default meant, CUstream handle, CUgraph* to) {
    return enter_stream(meant, handle, [&](Driver& driver, Context&, Stream& stream, Lock&) {
        Capture* capture = stream.capture;
        if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
        if (capture->origin != &stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
        for (const auto& [unused, other] : driver.streams)
            if (other->capture == capture) other->capture = nullptr;
        const auto ended = driver.captures.remove(capture);
        CUresult result = CUDA_SUCCESS;
        if (ended->status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
            result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
        else if (!ended->unjoined.empty())
            result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
        *to = result == CUDA_SUCCESS ? handle_of(ended->graph) : nullptr;
        if (result != CUDA_SUCCESS) driver.graphs.remove(ended->graph);
        return result;
    });
}

CUresult is_capturing(Default meant, CUstream handle, CUstreamCaptureStatus* status) {
    return enter_stream(meant, handle, [&](Driver&, Context&, Stream& stream, Lock&) {
        if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *status =
            stream.capture == nullptr ? CU_STREAM_CAPTURE_STATUS_NONE : stream.capture->status;
        return CUDA_SUCCESS;
    });
}

CUresult capture_info(Default meant, CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                      CUgraph* graph, const CUgraphNode** dependencies, std::size_t* count) {
    return enter_stream(meant, handle, [&](Driver&, Context&, Stream& stream, Lock&) {
        if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const Capture* capture = stream.capture;
        *status = capture == nullptr ? CU_STREAM_CAPTURE_STATUS_NONE : capture->status;
        if (capture == nullptr) return CUDA_SUCCESS;
        if (id != nullptr) *id = capture->id;
        if (graph != nullptr) *graph = handle_of(capture->graph);
        thread_local CUgraphNode last = nullptr;
        const auto& nodes = capture->graph->nodes;
        last = nodes.empty() ? nullptr : handle_of(nodes.back().get());
        if (dependencies != nullptr) *dependencies = &last;
        if (count != nullptr) *count = nodes.empty() ? 0 : 1;
        return CUDA_SUCCESS;
    });
}

// Runs body(Driver&, Context&, GraphNode&) and adds the node that it fills in.
template <class Body>
CUresult add_node(CUgraphNode* to, CUgraph handle, const CUgraphNode* dependencies,
                  std::size_t count, Body body) {
    return enter_context([&](Driver& driver, Context& context, Lock&) -> CUresult {
        Graph* graph = driver.graphs.find(handle);
        if (graph == nullptr || (dependencies == nullptr && count != 0))
            return CUDA_ERROR_INVALID_VALUE;
        auto node = std::make_unique<GraphNode>();
        node->device = context.device;
        for (std::size_t i = 0; i < count; ++i)
            if (find_node(driver, dependencies[i]) == nullptr) return CUDA_ERROR_INVALID_VALUE;
        if (const CUresult result = body(driver, context, *node); result != CUDA_SUCCESS)
            return result;
        node->operation.node_type = node->type;
        if (to != nullptr) *to = handle_of(node.get());
        graph->nodes.push_back(std::move(node));
        return CUDA_SUCCESS;
    });
}

CUresult instantiate(CUgraphExec* to, CUgraph handle, unsigned long long flags) {
    return enter_context([&](Driver& driver, Context&, Lock&) {
        const Graph* graph = driver.graphs.find(handle);
        if (to == nullptr || graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
        auto exec = std::make_unique<GraphExec>();
        for (const auto& node : graph->nodes) exec->nodes.push_back(*node);
        exec->frees_on_launch = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
        *to = reinterpret_cast<CUgraphExec>(driver.graph_execs.add(std::move(exec)));
        return CUDA_SUCCESS;
    });
}

// Memory that an earlier launch left in use may not be allocated once more.
bool is_in_use(Driver& driver, const GraphExec& exec) {
    return std::any_of(exec.nodes.begin(), exec.nodes.end(), [&](const GraphNode& node) {
        if (node.type != CU_GRAPH_NODE_TYPE_MEM_ALLOC) return false;
        const auto frees = [&](const GraphNode& other) {
            return other.type == CU_GRAPH_NODE_TYPE_MEM_FREE && other.pointer == node.pointer;
        };
        if (std::any_of(exec.nodes.begin(), exec.nodes.end(), frees)) return false;
        const auto& pieces = driver.gpus[static_cast<std::size_t>(node.device)].graph_memory.pieces;
        return pieces.at(node.pointer).is_used;
    });
}

CUresult launch_graph(Default meant, CUgraphExec handle, CUstream stream_handle) {
    return enter_stream(meant, stream_handle,
                        [&](Driver& driver, Context&, Stream& stream, Lock&) -> CUresult {
                            const GraphExec* exec = driver.graph_execs.find(handle);
                            if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
                            if (!exec->frees_on_launch && is_in_use(driver, *exec))
                                return CUDA_ERROR_INVALID_VALUE;
                            return launch(driver, *exec, stream);
                        });
}

CUresult upload_graph(Default meant, CUgraphExec handle, CUstream stream_handle) {
    return enter_stream(
        meant, stream_handle, [&](Driver& driver, Context&, Stream&, Lock&) -> CUresult {
            return driver.graph_execs.find(handle) == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                              : CUDA_SUCCESS;
        });
}

template <class Body>
CUresult enter_graph_memory(void* value, CUdevice of, Body body) {
    return enter([&](Driver& driver, Lock&) -> CUresult {
        if (of < 0 || static_cast<std::size_t>(of) >= driver.gpus.size())
            return CUDA_ERROR_INVALID_DEVICE;
        if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
        return body(driver.gpus[static_cast<std::size_t>(of)].graph_memory);
    });
}

}  // namespace

BERTH_TWIN(cuStreamBeginCapture_v2, _ptsz, begin_capture,
           (CUstream stream, CUstreamCaptureMode mode), stream, mode)
BERTH_TWIN(cuStreamEndCapture, _ptsz, end_capture, (CUstream stream, CUgraph* graph), stream, graph)
BERTH_TWIN(cuStreamIsCapturing, _ptsz, is_capturing,
           (CUstream stream, CUstreamCaptureStatus* status), stream, status)
BERTH_TWIN(cuStreamGetCaptureInfo_v2, _ptsz, capture_info,
           (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
            const CUgraphNode** dependencies, std::size_t* count),
           stream, status, id, graph, dependencies, count)
BERTH_TWIN(cuGraphLaunch, _ptsz, launch_graph, (CUgraphExec exec, CUstream stream), exec, stream)
BERTH_TWIN(cuGraphUpload, _ptsz, upload_graph, (CUgraphExec exec, CUstream stream), exec, stream)

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    if (mode == nullptr || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::swap(current, *mode);
    return CUDA_SUCCESS;
}

CUresult cuGraphCreate(CUgraph* to, unsigned int flags) {
    return enter([&](Driver& driver, Lock&) {
        if (to == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
        *to = handle_of(driver.graphs.add(std::make_unique<Graph>()));
        return CUDA_SUCCESS;
    });
}

CUresult cuGraphDestroy(CUgraph handle) {
    return enter([&](Driver& driver, Lock&) {
        return driver.graphs.remove(handle) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    });
}

CUresult cuGraphClone(CUgraph* to, CUgraph handle) {
    return enter([&](Driver& driver, Lock&) {
        const Graph* graph = driver.graphs.find(handle);
        if (to == nullptr || graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
        auto clone = std::make_unique<Graph>();
        for (const auto& node : graph->nodes)
            clone->nodes.push_back(std::make_unique<GraphNode>(*node));
        *to = handle_of(driver.graphs.add(std::move(clone)));
        return CUDA_SUCCESS;
    });
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* to, CUgraph graph, const CUgraphNode* dependencies,
                                 std::size_t count, const CUDA_KERNEL_NODE_PARAMS_v2* params) {
    return add_node(
        to, graph, dependencies, count, [&](Driver& driver, Context&, GraphNode& node) -> CUresult {
            if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
            node.type = CU_GRAPH_NODE_TYPE_KERNEL;
                        // A function and a kernel are one kind of object here.
            const CUfunction function =
                params->func != nullptr ? params->func : reinterpret_cast<CUfunction>(params->kern);
            return make_kernel(driver,
                               {function,
                                {params->gridDimX, params->gridDimY, params->gridDimZ},
                                {params->blockDimX, params->blockDimY, params->blockDimZ},
                                params->kernelParams,
                                params->extra},
                               node.operation);
        });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* to, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_MEMCPY3D* copy, CUcontext) {
    return add_node(
        to, graph, dependencies, count, [&](Driver& driver, Context&, GraphNode& node) -> CUresult {
            if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
            Copy wanted;
            if (const CUresult result = read_copy(driver, *copy, wanted); result != CUDA_SUCCESS)
                return result;
            node.type = CU_GRAPH_NODE_TYPE_MEMCPY;
            node.operation = copy_operation(driver, wanted, ReadHost::WhenItRuns);
            return CUDA_SUCCESS;
        });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* to, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
    return add_node(
        to, graph, dependencies, count, [&](Driver& driver, Context&, GraphNode& node) -> CUresult {
            if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
            const std::size_t unit = params->elementSize;
            if (unit != 1 && unit != 2 && unit != 4) return CUDA_ERROR_INVALID_VALUE;
            const Place place = device_place(params->dst, params->pitch, params->height);
            const Box box = {params->width * unit, params->height, 1};
            if (!is_inside(driver, place, box)) return CUDA_ERROR_INVALID_VALUE;
            node.type = CU_GRAPH_NODE_TYPE_MEMSET;
            node.operation = fill_operation(driver, place, box, params->value, unit);
            return CUDA_SUCCESS;
        });
}

CUresult cuGraphAddHostNode(CUgraphNode* to, CUgraph graph, const CUgraphNode* dependencies,
                            std::size_t count, const CUDA_HOST_NODE_PARAMS* params) {
    return add_node(to, graph, dependencies, count,
                    [&](Driver&, Context&, GraphNode& node) -> CUresult {
                        if (params == nullptr || params->fn == nullptr)
                            return CUDA_ERROR_INVALID_VALUE;
                        node.type = CU_GRAPH_NODE_TYPE_HOST;
                        node.operation.kind = Operation::Kind::Host;
                        node.operation.effect = [call = *params] { call.fn(call.userData); };
                        return CUDA_SUCCESS;
                    });
}

CUresult cuGraphAddEmptyNode(CUgraphNode* to, CUgraph graph, const CUgraphNode* dependencies,
                             std::size_t count) {
    return add_node(to, graph, dependencies, count,
                    [](Driver&, Context&, GraphNode&) -> CUresult { return CUDA_SUCCESS; });
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* to, CUgraph handle, const CUgraphNode*, std::size_t,
                                CUDA_MEM_ALLOC_NODE_PARAMS* params) {
    return enter([&](Driver& driver, Lock&) {
        Graph* graph = driver.graphs.find(handle);
        if (graph == nullptr || params == nullptr || params->bytesize == 0)
            return CUDA_ERROR_INVALID_VALUE;
        const int of = params->poolProps.location.id;
        if (params->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE || of < 0 ||
            static_cast<std::size_t>(of) >= driver.gpus.size())
            return CUDA_ERROR_INVALID_VALUE;
        GraphNode* node = add_allocation(driver, *graph, of, params->bytesize);
        if (node == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
        params->dptr = node->pointer;
        if (to != nullptr) *to = handle_of(node);
        return CUDA_SUCCESS;
    });
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* to, CUgraph graph, const CUgraphNode* dependencies,
                               std::size_t count, CUdeviceptr pointer) {
    return add_node(to, graph, dependencies, count,
                    [&](Driver& driver, Context&, GraphNode& node) -> CUresult {
                        const Allocation* found = driver.memory.find(pointer);
                        if (found == nullptr || found->origin != Origin::Graph)
                            return CUDA_ERROR_INVALID_VALUE;
                        node.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
                        node.pointer = pointer;
                        node.operation.effect = free_effect(driver, pointer);
                        return CUDA_SUCCESS;
                    });
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, std::size_t* count) {
    return enter([&](Driver& driver, Lock&) {
        const Graph* graph = driver.graphs.find(handle);
        if (graph == nullptr || count == nullptr) return CUDA_ERROR_INVALID_VALUE;
        const std::size_t room = *count;
        *count = graph->nodes.size();
        if (nodes == nullptr) return CUDA_SUCCESS;
        *count = std::min(room, *count);
        for (std::size_t i = 0; i < room; ++i)
            nodes[i] = i < graph->nodes.size() ? handle_of(graph->nodes[i].get()) : nullptr;
        return CUDA_SUCCESS;
    });
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
    return enter([&](Driver& driver, Lock&) {
        const GraphNode* node = find_node(driver, handle);
        if (node == nullptr || type == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *type = node->type;
        return CUDA_SUCCESS;
    });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* to, CUgraph graph, unsigned long long flags) {
    return instantiate(to, graph, flags);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* to, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
    if (params == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = instantiate(to, graph, params->flags);
    params->hErrNode_out = nullptr;
    params->result_out =
        result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return result;
}

CUresult cuGraphInstantiate_v2(CUgraphExec* to, CUgraph graph, CUgraphNode* error_node, char* log,
                               std::size_t log_bytes) {
    if (error_node != nullptr) *error_node = nullptr;
    if (log != nullptr && log_bytes != 0) *log = '\0';
    return instantiate(to, graph, 0);
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
    return enter([&](Driver& driver, Lock&) {
        return driver.graph_execs.remove(handle) == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                            : CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice of, CUgraphMem_attribute attribute, void* value) {
    return enter_graph_memory(value, of, [&](GraphMemory& memory) {
        cuuint64_t number = 0;
        switch (attribute) {
            case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT: number = memory.used_bytes(); break;
            case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH: number = memory.used_high; break;
            case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT: number = memory.reserved_bytes(); break;
            case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH: number = memory.reserved_high; break;
            default: return CUDA_ERROR_INVALID_VALUE;
        }
        std::memcpy(value, &number, sizeof(number));
        return CUDA_SUCCESS;
    });
}

// High-water marks may only be set back.
CUresult cuDeviceSetGraphMemAttribute(CUdevice of, CUgraphMem_attribute attribute, void* value) {
    return enter_graph_memory(value, of, [&](GraphMemory& memory) {
        if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
            memory.used_high = memory.used_bytes();
        else if (attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
            memory.reserved_high = memory.reserved_bytes();
        else
            return CUDA_ERROR_INVALID_VALUE;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGraphMemTrim(CUdevice of) {
    return enter([&](Driver& driver, Lock&) {
        if (of < 0 || static_cast<std::size_t>(of) >= driver.gpus.size())
            return CUDA_ERROR_INVALID_DEVICE;
        trim_graph_memory(driver, driver.gpus[static_cast<std::size_t>(of)]);
        return CUDA_SUCCESS;
    });
}
