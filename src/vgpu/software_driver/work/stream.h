// SPDX-License-Identifier: Apache-2.0
//
// What is queued in the streams of this process, and when is each operation done?
//
// A stream runs its operations in order. pump() carries all streams to the present: it gives
// kernels to the shared engine, starts copies, and does what a finished operation does to memory.
// Any thread that waits pumps; a thread in the background does so for those that do not wait, and
// alone runs the program's own functions. In virtual time there is no such thread: time passes,
// and everything happens, in the one that waits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "vgpu/abi/cuda.h"
#include "vgpu/device/engine.h"

namespace berth::vgpu::software_driver {

struct Capture;
struct Context;
struct Driver;

struct Progress {
    std::uint64_t done = 0;  // operations of the stream
};

struct Stamp {
    std::uint64_t ns = 0;
};

enum class Direction : std::uint32_t { HostToDevice, DeviceToHost, WithinDevice };

struct Operation {
    enum class Kind { Kernel, Copy, Host, Record, Wait };
    Kind kind = Kind::Copy;
    std::function<void()> effect;  // of a kernel or copy, once it is done; of Host, the call
    std::uint64_t duration_ns = 0;  // of a kernel that has the GPU for itself
    std::uint32_t permille = 1000;  // of the multiprocessors, that a kernel wants
    std::uint64_t bytes = 0;        // of a copy; 0: takes no time
    Direction direction = Direction::WithinDevice;
    std::shared_ptr<Stamp> stamp;            // of Record: gets the time
    std::shared_ptr<Progress> awaited;       // of Wait: until this many there are done
    std::uint64_t awaited_count = 0;
    std::uint64_t queued_ns = 0;
    CUgraphNodeType node_type = CU_GRAPH_NODE_TYPE_MEMCPY;  // what it is as a node of a graph
};

struct Stream {
    Context* context = nullptr;
    unsigned int flags = 0;
    int priority = 0;
    unsigned long long id = 0;
    bool is_per_thread = false;
    bool is_destroyed = false;  // what is in it still runs
    std::shared_ptr<Progress> progress = std::make_shared<Progress>();
    std::uint64_t queued = 0;  // operations, ever
    std::deque<Operation> operations;
    std::uint32_t queue = device::kQueuesMax;  // kQueuesMax: none yet
    std::size_t given = 0;          // operations from the front that the engine has
    std::deque<std::uint64_t> ends;  // of the kernels among them: served work at which each ends
    std::uint64_t copy_end_ns = 0;  // of the copy in front; 0: not started
    bool is_calling = false;        // the Host operation in front runs now
    std::uint64_t last_end_ns = 0;  // when the operation before the front ended
    Capture* capture = nullptr;

    bool is_idle() const { return operations.empty(); }
};

struct Event {
    Context* context = nullptr;
    unsigned int flags = 0;
    std::shared_ptr<Progress> progress;  // null: never recorded
    std::uint64_t count = 0;
    std::shared_ptr<Stamp> stamp;
    unsigned long long capture_id = 0;        // recorded within that capture; 0: in none
    const Stream* captured_stream = nullptr;  // and in this stream of it
    bool is_done() const { return progress == nullptr || progress->done >= count; }
};

// What the streams of a process have in common.
struct Work {
    std::vector<Stream*> active;  // with operations in them
    bool has_thread = false;
    std::uint32_t waiting = 0;           // threads that pump while they wait
    std::multiset<std::uint64_t> sleeping;  // those of them that look again then, ns
    std::uint64_t thread_wakes_ns = 0;   // when the background thread looks again
    unsigned long long next_id = 1;

    // When a thread looks again, awake or not.
    std::uint64_t looked_at_ns() const {
        if (waiting > sleeping.size()) return 0;
        return sleeping.empty() ? thread_wakes_ns : std::min(thread_wakes_ns, *sleeping.begin());
    }
};

// Which default stream a NULL handle means: that of the function's own name or of its _ptsz form.
enum class Default { Legacy, PerThread };

// Null for what is no stream of the process.
Stream* find_stream(Driver& driver, Context& context, CUstream handle, Default meant);

Stream* make_stream(Driver& driver, Context& context, unsigned int flags, int priority);
void destroy_stream(Driver& driver, Stream& stream);

// Puts the operation into the stream, or into the graph that it is captured into.
CUresult enqueue(Driver& driver, Stream& stream, Operation operation);

// Carries the streams on. Returns when to look again, at the earliest.
std::uint64_t pump(Driver& driver);

// Pumps until `is_done`; the lock is open while time passes.
CUresult wait_until(Driver& driver, std::unique_lock<std::mutex>& lock,
                    const std::function<bool()>& is_done);

// Until everything that is in the stream now is done.
CUresult synchronize(Driver& driver, std::unique_lock<std::mutex>& lock, const Stream& stream);
CUresult synchronize_all(Driver& driver, std::unique_lock<std::mutex>& lock,
                         const Context& context);

}  // namespace berth::vgpu::software_driver
