// SPDX-License-Identifier: Apache-2.0
#include "vgpu/software_driver/work/stream.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "vgpu/software_driver/driver.h"
#include "vgpu/software_driver/work/capture.h"

namespace berth::vgpu::software_driver {
namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kWithinDeviceBytesPerNs = 2000;
constexpr std::uint64_t kThreadStepNs = 100'000;  // the background thread looks no more often
constexpr std::uint64_t kSpinNs = 60'000;         // shorter waits than this do not sleep
constexpr std::uint64_t kLookNs = 5'000'000;      // a wait looks at least so often

using Kind = Operation::Kind;

device::Engine& engine_of(Driver& driver, const Stream& stream) {
    return (*driver.state)
        ->engines[driver.gpus[static_cast<std::size_t>(stream.context->device)].number];
}

void advance_engine(Driver& driver, device::Engine& engine) {
    const device::Description& description = driver.description();
    device::advance(engine, {description.sharing, description.slice_ns}, driver.state->now_ns());
}

void finish(Stream& stream, std::uint64_t end_ns) {
    stream.operations.pop_front();
    ++stream.progress->done;
    stream.last_end_ns = end_ns;
    if (stream.given > 0) --stream.given;
}

// Hands the engine the kernels at the front, as far as nothing else is between them.
void give_kernels(Stream& stream, device::Engine& engine) {
    for (; stream.given < stream.operations.size(); ++stream.given) {
        const Operation& next = stream.operations[stream.given];
        if (next.kind == Kind::Record) continue;
        const bool fits =
            stream.ends.empty() || engine.queues[stream.queue].permille == next.permille;
        if (next.kind != Kind::Kernel || !fits) break;
        stream.ends.push_back(
            device::submit(engine, stream.queue, next.permille, next.duration_ns));
    }
}

// When a kernel that is done was done: the queue went on to the next one, or ran dry.
std::uint64_t kernel_end_ns(const device::Engine& engine, const device::EngineQueue& queue,
                            std::uint64_t end) {
    if (queue.backlog_ns() == 0 && queue.served_ns == end) return queue.dry_ns;
    return engine.clock_ns - std::min(engine.clock_ns, queue.served_ns - end);
}

// Carries the kernels at the front on. Returns when to look again.
std::uint64_t step_kernels(Driver& driver, Stream& stream) {
    std::vector<std::uint64_t> ends_ns;
    std::uint64_t wake_ns = kNever;
    {
        const device::Locked locked(*driver.state);
        device::Engine& engine = engine_of(driver, stream);
        advance_engine(driver, engine);
        give_kernels(stream, engine);
        const device::EngineQueue& queue = engine.queues[stream.queue];
        while (!stream.ends.empty() && queue.served_ns >= stream.ends.front()) {
            ends_ns.push_back(kernel_end_ns(engine, queue, stream.ends.front()));
            stream.ends.pop_front();
        }
        if (!stream.ends.empty())
            wake_ns = engine.clock_ns + (stream.ends.front() - queue.served_ns);
    }
    for (const std::uint64_t end_ns : ends_ns) {
        // Stamps between kernels that were given together.
        while (stream.operations.front().kind == Kind::Record) {
            Operation& record = stream.operations.front();
            record.stamp->ns = std::max(record.queued_ns, stream.last_end_ns);
            finish(stream, record.stamp->ns);
        }
        if (stream.operations.front().effect) stream.operations.front().effect();
        finish(stream, end_ns);
    }
    return ends_ns.empty() ? wake_ns : 0;
}

std::uint64_t copy_ns(const device::Description& description, const Operation& copy) {
    if (copy.direction == Direction::WithinDevice) return copy.bytes / kWithinDeviceBytesPerNs;
    return static_cast<std::uint64_t>(static_cast<double>(copy.bytes) * 1e9 /
                                      static_cast<double>(description.copy_bytes_per_s));
}

// One after the other through the GPU's engine of that direction.
void start_copy(Driver& driver, Stream& stream, const Operation& copy) {
    const std::uint64_t now_ns = driver.state->now_ns();
    if (copy.bytes == 0) {
        stream.copy_end_ns = now_ns;
        return;
    }
    const std::uint32_t gpu = driver.gpus[static_cast<std::size_t>(stream.context->device)].number;
    const device::Locked locked(*driver.state);
    std::uint64_t& end_ns =
        (*driver.state)->copies_end_ns[gpu][static_cast<std::size_t>(copy.direction)];
    end_ns = std::max(end_ns, now_ns) + copy_ns(driver.description(), copy);
    stream.copy_end_ns = end_ns;
}

std::uint64_t step_copy(Driver& driver, Stream& stream) {
    Operation& copy = stream.operations.front();
    if (stream.copy_end_ns == 0) start_copy(driver, stream, copy);
    if (driver.state->now_ns() < stream.copy_end_ns) return stream.copy_end_ns;
    if (copy.effect) copy.effect();
    const std::uint64_t end_ns = std::exchange(stream.copy_end_ns, 0);
    finish(stream, end_ns);
    return 0;
}

// Carries the front of the stream on. Returns 0 when something was done, else when to look again.
std::uint64_t step(Driver& driver, Stream& stream) {
    Operation& front = stream.operations.front();
    switch (front.kind) {
        case Kind::Kernel: return step_kernels(driver, stream);
        case Kind::Copy: return step_copy(driver, stream);
        case Kind::Host: return kNever;
        case Kind::Record:
            front.stamp->ns = std::max(front.queued_ns, stream.last_end_ns);
            finish(stream, front.stamp->ns);
            return 0;
        case Kind::Wait:
            if (front.awaited->done < front.awaited_count) return kNever;
            finish(stream, driver.state->now_ns());
            return 0;
    }
    return kNever;
}

// Runs a function of the program, with the lock open: it may block, though not call the API.
bool call_one(Driver& driver, Lock& lock) {
    for (Stream* stream : driver.work.active) {
        if (stream->is_idle() || stream->is_calling) continue;
        if (stream->operations.front().kind != Kind::Host) continue;
        const std::function<void()> call = stream->operations.front().effect;
        stream->is_calling = true;
        lock.unlock();
        call();
        lock.lock();
        stream->is_calling = false;
        finish(*stream, driver.state->now_ns());
        driver.changed.notify_all();
        return true;
    }
    return false;
}

std::chrono::steady_clock::time_point at(std::uint64_t ns) {
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(ns));
}

[[noreturn]] void run_in_background(Driver& driver) {
    Lock lock(driver.mutex);
    for (;;) {
        const std::uint64_t wake_ns = pump(driver);
        if (call_one(driver, lock)) continue;
        const std::uint64_t now_ns = device::steady_ns();
        const bool is_left_to_waiters = driver.work.waiting > 0;
        driver.work.thread_wakes_ns = wake_ns == kNever || is_left_to_waiters
                                          ? (driver.work.active.empty() ? kNever : now_ns + kLookNs)
                                          : std::max(wake_ns, now_ns + kThreadStepNs);
        if (driver.work.thread_wakes_ns == kNever)
            driver.changed.wait(lock);
        else
            driver.changed.wait_until(lock, at(driver.work.thread_wakes_ns));
    }
}

// Signals are for the program's own threads.
void start_thread(Driver& driver) {
    driver.work.has_thread = true;
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread(run_in_background, std::ref(driver)).detach();
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool is_blocking(const Stream& stream) { return (stream.flags & CU_STREAM_NON_BLOCKING) == 0; }

void push(Driver& driver, Stream& stream, Operation operation) {
    operation.queued_ns = driver.state->now_ns();
    if (stream.is_idle()) driver.work.active.push_back(&stream);
    stream.operations.push_back(std::move(operation));
    ++stream.queued;
}

void push_wait(Driver& driver, Stream& stream, const Stream& on) {
    Operation wait;
    wait.kind = Kind::Wait;
    wait.awaited = on.progress;
    wait.awaited_count = on.queued;
    push(driver, stream, std::move(wait));
}

// The default stream waits for all blocking streams of its context, and they for it.
void keep_default_order(Driver& driver, Stream& stream) {
    Stream* legacy = stream.context->legacy;
    if (&stream != legacy) {
        if (is_blocking(stream) && !legacy->is_idle()) push_wait(driver, stream, *legacy);
        return;
    }
    const std::vector<Stream*> active = driver.work.active;
    for (const Stream* other : active)
        if (other != legacy && other->context == stream.context && is_blocking(*other) &&
            !other->is_idle())
            push_wait(driver, stream, *other);
}

CUresult open_queue(Driver& driver, Stream& stream) {
    const device::Locked locked(*driver.state);
    stream.queue = device::open_queue(engine_of(driver, stream), driver.process);
    return stream.queue == device::kQueuesMax ? CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES : CUDA_SUCCESS;
}

void close_queue(Driver& driver, Stream& stream) {
    if (stream.queue == device::kQueuesMax) return;
    const device::Locked locked(*driver.state);
    device::close_queue(engine_of(driver, stream), stream.queue);
    stream.queue = device::kQueuesMax;
}

// Streams that ran empty are no longer active; destroyed ones are gone then.
void drop_idle(Driver& driver) {
    std::vector<Stream*> gone;
    std::erase_if(driver.work.active, [&](Stream* stream) {
        if (!stream->is_idle()) return false;
        if (stream->is_destroyed) gone.push_back(stream);
        return true;
    });
    for (Stream* stream : gone) {
        close_queue(driver, *stream);
        driver.streams.remove(stream);
    }
}

void publish_pending(Driver& driver) {
    std::size_t pending = 0;
    for (const Stream* stream : driver.work.active) pending += stream->operations.size();
    driver.record().pending.store(static_cast<std::uint32_t>(pending));
}

}  // namespace

Stream* make_stream(Driver& driver, Context& context, unsigned int flags, int priority) {
    Stream* stream = driver.streams.add(std::make_unique<Stream>());
    stream->context = &context;
    stream->flags = flags;
    stream->priority = priority;
    stream->id = driver.work.next_id++;
    return stream;
}

void destroy_stream(Driver& driver, Stream& stream) {
    stream.is_destroyed = true;
    if (!stream.is_idle()) return;
    close_queue(driver, stream);
}

Stream* find_stream(Driver& driver, Context& context, CUstream handle, Default meant) {
    if (handle == nullptr)
        handle = meant == Default::Legacy ? cu_stream_legacy() : cu_stream_per_thread();
    if (handle == cu_stream_legacy()) return context.legacy;
    if (handle == cu_stream_per_thread()) {
        thread_local std::vector<std::pair<unsigned long long, Stream*>> own;
        for (const auto& [id, stream] : own)
            if (id == context.id) return stream;
        Stream* stream = make_stream(driver, context, CU_STREAM_DEFAULT, 0);
        stream->is_per_thread = true;
        own.emplace_back(context.id, stream);
        return stream;
    }
    Stream* stream = driver.streams.find(handle);
    return stream == nullptr || stream->is_destroyed ? nullptr : stream;
}

CUresult enqueue(Driver& driver, Stream& stream, Operation operation) {
    if (stream.capture != nullptr) return capture_operation(stream, std::move(operation));
    if (operation.kind == Kind::Kernel && stream.queue == device::kQueuesMax)
        if (const CUresult result = open_queue(driver, stream); result != CUDA_SUCCESS)
            return result;
    keep_default_order(driver, stream);
    push(driver, stream, std::move(operation));
    const std::uint64_t wake_ns = pump(driver);
    if (driver.description().time == device::Time::Virtual || driver.work.active.empty())
        return CUDA_SUCCESS;
    if (!driver.work.has_thread) start_thread(driver);
    if (wake_ns + kThreadStepNs < driver.work.looked_at_ns() || wake_ns == kNever)
        driver.changed.notify_all();
    return CUDA_SUCCESS;
}

std::uint64_t pump(Driver& driver) {
    const std::size_t before = driver.work.active.size();
    std::uint64_t wake_ns = kNever;
    bool has_moved = true;
    bool was_moved = false;
    while (has_moved) {
        has_moved = false;
        wake_ns = kNever;
        for (Stream* stream : driver.work.active) {
            while (!stream->is_idle()) {
                const std::uint64_t when_ns = step(driver, *stream);
                wake_ns = std::min(wake_ns, when_ns == 0 ? kNever : when_ns);
                if (when_ns != 0) break;
                has_moved = was_moved = true;
            }
        }
    }
    drop_idle(driver);
    publish_pending(driver);
    const bool has_call =
        std::any_of(driver.work.active.begin(), driver.work.active.end(), [](const Stream* stream) {
            return stream->operations.front().kind == Kind::Host && !stream->is_calling;
        });
    if (has_call || (was_moved && (driver.work.waiting > 1 || driver.work.active.size() < before)))
        driver.changed.notify_all();
    return wake_ns;
}

CUresult wait_until(Driver& driver, Lock& lock, const std::function<bool()>& is_done) {
    const bool is_virtual = driver.description().time == device::Time::Virtual;
    ++driver.work.waiting;
    while (!is_done()) {
        const std::uint64_t wake_ns = pump(driver);
        if (is_done()) break;
        if (is_virtual) {
            if (call_one(driver, lock)) continue;
            if (wake_ns == kNever) break;
            driver.state->pass_until(wake_ns);
            continue;
        }
        const std::uint64_t now_ns = device::steady_ns();
        if (wake_ns < now_ns + kSpinNs) {
            lock.unlock();
            do std::this_thread::yield();
            while (device::steady_ns() < wake_ns);
            lock.lock();
        } else {
            const auto look =
                driver.work.sleeping.insert(std::min(wake_ns - kSpinNs / 2, now_ns + kLookNs));
            driver.changed.wait_until(lock, at(*look));
            driver.work.sleeping.erase(look);
        }
    }
    --driver.work.waiting;
    return is_done() ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

CUresult synchronize(Driver& driver, Lock& lock, const Stream& stream) {
    const auto progress = stream.progress;
    const std::uint64_t count = stream.queued;
    const CUresult result = wait_until(driver, lock, [&] { return progress->done >= count; });
    trim_pools(driver);
    return result;
}

CUresult synchronize_all(Driver& driver, Lock& lock, const Context& context) {
    std::vector<std::pair<std::shared_ptr<Progress>, std::uint64_t>> counts;
    for (const Stream* stream : driver.work.active)
        if (stream->context == &context) counts.emplace_back(stream->progress, stream->queued);
    const CUresult result = wait_until(driver, lock, [&] {
        return std::all_of(counts.begin(), counts.end(),
                           [](const auto& one) { return one.first->done >= one.second; });
    });
    trim_pools(driver);
    return result;
}

}  // namespace berth::vgpu::software_driver
