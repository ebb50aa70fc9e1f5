// SPDX-License-Identifier: Apache-2.0
//
// What does the driver know of its process, and how does a call get in?
//
// Every call of the API goes through enter(): it waits while the process is locked for a
// checkpoint, takes the one lock of the process, and lets no exception out. So the code behind it
// is written as if there were one thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "vgpu/abi/cuda.h"
#include "vgpu/device/shared_state.h"
#include "vgpu/software_driver/context.h"
#include "vgpu/software_driver/memory/address_space.h"
#include "vgpu/software_driver/memory/array.h"
#include "vgpu/software_driver/memory/memory_pool.h"
#include "vgpu/software_driver/memory/multicast.h"
#include "vgpu/software_driver/work/graph.h"
#include "vgpu/software_driver/work/module.h"
#include "vgpu/software_driver/work/stream.h"

namespace berth::vgpu::software_driver {

// Owns the objects behind handles of one kind, and knows which handles are real.
template <class T>
class Registry {
  public:
    T* add(std::unique_ptr<T> object) {
        T* handle = object.get();
        objects_.emplace(handle, std::move(object));
        return handle;
    }
    // Null for what is no handle of this kind.
    T* find(const void* handle) const {
        const auto found = objects_.find(handle);
        return found == objects_.end() ? nullptr : found->second.get();
    }
    std::unique_ptr<T> remove(const void* handle) {
        auto node = objects_.extract(handle);
        return node.empty() ? nullptr : std::move(node.mapped());
    }
    void remove_if(const std::function<bool(const T&)>& condition) {
        std::erase_if(objects_, [&](const auto& entry) { return condition(*entry.second); });
    }
    auto begin() const { return objects_.begin(); }
    auto end() const { return objects_.end(); }

  private:
    std::unordered_map<const void*, std::unique_ptr<T>> objects_;
};

// A GPU that this process sees; its place among them is the CUdevice.
struct Gpu {
    std::uint32_t number = 0;  // on the machine
    Context* primary = nullptr;
    std::uint32_t primary_users = 0;
    unsigned int primary_flags = 0;
    MemoryPool* default_pool = nullptr;
    MemoryPool* current_pool = nullptr;
    std::unique_ptr<Arena> small;  // where small cuMemAlloc come from
    GraphMemory graph_memory;
};

// Everything of this process. Made by cuInit and never destroyed: threads may outlive main().
struct Driver {
    std::mutex mutex;
    std::condition_variable changed;  // an operation is done, or there is a new one
    std::unique_ptr<device::SharedState> state;
    std::uint32_t process = 0;
    std::vector<Gpu> gpus;
    AddressSpace memory;
    Registry<Context> contexts;
    Registry<Stream> streams;
    Registry<Event> events;
    Registry<MemoryPool> pools;
    Registry<Array> arrays;
    Registry<MipmappedArray> mipmapped_arrays;
    Registry<Module> modules;
    Registry<Function> functions;
    std::map<CUmemGenericAllocationHandle, Multicast> multicasts;
    CUmemGenericAllocationHandle next_multicast = kFirstMulticast;
    std::map<CUgreenCtx, CUdevice> green_contexts;
    std::uintptr_t next_green = 1;
    Registry<Capture> captures;
    Registry<Graph> graphs;
    Registry<GraphExec> graph_execs;
    Work work;

    const device::Description& description() const { return (*state)->description; }
    device::Process& record() const { return (*state)->processes[process]; }
};

// One binding of a multicast object lets its memory go.
void release_bound(Driver& driver, const Multicast::Bound& bound);

// The process's driver once cuInit has succeeded; null before, and in a forked child.
Driver* current_driver();
CUresult initialise_driver();
// The CUDA version it speaks, also before cuInit. The newest one when the description cannot be
// read: then cuInit is there to say what is wrong with it.
int driver_version();

// Waits while the process is locked, and counts the call, for locking waits until no call is left.
class Gate {
  public:
    explicit Gate(Driver& driver);
    ~Gate();
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

  private:
    Driver& driver_;
};

using Lock = std::unique_lock<std::mutex>;

// Runs body(Driver&, Lock&) as one call of the API.
template <class Body>
CUresult enter(Body body) noexcept {
    Driver* driver = current_driver();
    if (driver == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
    try {
        const Gate gate(*driver);
        Lock lock(driver->mutex);
        return body(*driver, lock);
    } catch (const std::bad_alloc&) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    } catch (...) {
        return CUDA_ERROR_UNKNOWN;
    }
}

// Likewise, for calls that need a current context: body(Driver&, Context&, Lock&).
template <class Body>
CUresult enter_context(Body body) noexcept {
    return enter([&](Driver& driver, Lock& lock) -> CUresult {
        Context* context = current_context(driver);
        if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
        if (context->error != CUDA_SUCCESS) return context->error;
        return body(driver, *context, lock);
    });
}

}  // namespace berth::vgpu::software_driver
