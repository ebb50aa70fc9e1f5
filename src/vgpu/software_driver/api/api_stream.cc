// SPDX-License-Identifier: Apache-2.0
//
// Streams, events and calls of the host in stream order.
#include <algorithm>

#include "vgpu/software_driver/api/twin.h"
#include "vgpu/software_driver/driver.h"

using namespace berth::vgpu::software_driver;

namespace {

CUresult query_stream(Default meant, CUstream handle) {
    return enter_stream(meant, handle, [&](Driver& driver, Context&, Stream& stream, Lock&) {
        if (stream.capture != nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        pump(driver);
        return stream.is_idle() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    });
}

CUresult synchronize_stream(Default meant, CUstream handle) {
    return enter_stream(meant, handle,
                        [&](Driver& driver, Context& context, Stream& stream, Lock& lock) {
                            if (stream.capture != nullptr)
                                return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
                            const CUresult result = synchronize(driver, lock, stream);
                            return result != CUDA_SUCCESS ? result : context.error;
                        });
}

// A stream joins the capture that the event was recorded in; or its origin is joined again.
CUresult wait_captured(Driver& driver, Stream& stream, const Event& event) {
    for (const auto& [handle, capture] : driver.captures) {
        if (capture->id != event.capture_id) continue;
        if (stream.capture != nullptr && stream.capture != capture.get())
            return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
        stream.capture = capture.get();
        if (&stream != capture->origin) capture->unjoined.insert(&stream);
        capture->unjoined.erase(event.captured_stream);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_CAPTURED_EVENT;
}

CUresult wait_event(Default meant, CUstream handle, CUevent event_handle, unsigned int) {
    return enter_stream(meant, handle,
                        [&](Driver& driver, Context&, Stream& stream, Lock&) -> CUresult {
                            const Event* event = driver.events.find(event_handle);
                            if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
                            if (event->capture_id != 0)
                                return wait_captured(driver, stream, *event);
                            if (stream.capture != nullptr)
                                return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
                            if (event->is_done()) return CUDA_SUCCESS;
                            Operation wait;
                            wait.kind = Operation::Kind::Wait;
                            wait.awaited = event->progress;
                            wait.awaited_count = event->count;
                            return enqueue(driver, stream, std::move(wait));
                        });
}

CUresult get_priority(Default meant, CUstream handle, int* priority) {
    return enter_stream(meant, handle, [&](Driver&, Context&, Stream& stream, Lock&) {
        if (priority == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *priority = stream.priority;
        return CUDA_SUCCESS;
    });
}

CUresult get_flags(Default meant, CUstream handle, unsigned int* flags) {
    return enter_stream(meant, handle, [&](Driver&, Context&, Stream& stream, Lock&) {
        if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *flags = stream.flags;
        return CUDA_SUCCESS;
    });
}

CUresult get_id(Default meant, CUstream handle, unsigned long long* id) {
    return enter_stream(meant, handle, [&](Driver&, Context&, Stream& stream, Lock&) {
        if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *id = stream.id;
        return CUDA_SUCCESS;
    });
}

CUresult get_context(Default meant, CUstream handle, CUcontext* context) {
    return enter_stream(meant, handle, [&](Driver&, Context&, Stream& stream, Lock&) {
        if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
        *context = reinterpret_cast<CUcontext>(stream.context);
        return CUDA_SUCCESS;
    });
}

CUresult call_host(Default meant, CUstream handle, std::function<void()> call) {
    return enter_stream(meant, handle, [&](Driver& driver, Context&, Stream& stream, Lock&) {
        Operation host;
        host.kind = Operation::Kind::Host;
        host.node_type = CU_GRAPH_NODE_TYPE_HOST;
        host.effect = std::move(call);
        return enqueue(driver, stream, std::move(host));
    });
}

CUresult launch_host(Default meant, CUstream stream, CUhostFn function, void* data) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return call_host(meant, stream, [function, data] { function(data); });
}

CUresult add_callback(Default meant, CUstream stream, CUstreamCallback callback, void* data,
                      unsigned int) {
    if (callback == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return call_host(meant, stream,
                     [stream, callback, data] { callback(stream, CUDA_SUCCESS, data); });
}

CUresult record_event(Default meant, CUevent handle, CUstream stream_handle, unsigned int) {
    return enter_stream(meant, stream_handle,
                        [&](Driver& driver, Context&, Stream& stream, Lock&) -> CUresult {
                            Event* event = driver.events.find(handle);
                            if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
                            if (stream.capture != nullptr) {
                                event->capture_id = stream.capture->id;
                                event->captured_stream = &stream;
                                return CUDA_SUCCESS;
                            }
                            Operation record;
                            record.kind = Operation::Kind::Record;
                            record.stamp = std::make_shared<Stamp>();
                            event->stamp = record.stamp;
                            event->capture_id = 0;
                            const CUresult result = enqueue(driver, stream, std::move(record));
                            event->progress = stream.progress;
                            event->count = stream.queued;
                            return result;
                        });
}

CUresult record_now(Default meant, CUevent event, CUstream stream) {
    return record_event(meant, event, stream, 0);
}

CUresult create_stream(CUstream* to, unsigned int flags, int priority) {
    return enter_context([&](Driver& driver, Context& context, Lock&) {
        if (to == nullptr || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
        Stream* stream = make_stream(driver, context, flags, std::clamp(priority, -5, 0));
        *to = reinterpret_cast<CUstream>(stream);
        return CUDA_SUCCESS;
    });
}

template <class Body>
CUresult enter_event(CUevent handle, Body body) {
    return enter([&](Driver& driver, Lock& lock) -> CUresult {
        Event* event = driver.events.find(handle);
        if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (event->capture_id != 0) return CUDA_ERROR_CAPTURED_EVENT;
        if (event->context->error != CUDA_SUCCESS) return event->context->error;
        return body(driver, *event, lock);
    });
}

bool has_time(const Event& event) { return (event.flags & CU_EVENT_DISABLE_TIMING) == 0; }

}  // namespace

BERTH_TWIN(cuStreamQuery, _ptsz, query_stream, (CUstream stream), stream)
BERTH_TWIN(cuStreamSynchronize, _ptsz, synchronize_stream, (CUstream stream), stream)
BERTH_TWIN(cuStreamWaitEvent, _ptsz, wait_event,
           (CUstream stream, CUevent event, unsigned int flags), stream, event, flags)
BERTH_TWIN(cuStreamGetPriority, _ptsz, get_priority, (CUstream stream, int* priority), stream,
           priority)
BERTH_TWIN(cuStreamGetFlags, _ptsz, get_flags, (CUstream stream, unsigned int* flags), stream,
           flags)
BERTH_TWIN(cuStreamGetId, _ptsz, get_id, (CUstream stream, unsigned long long* id), stream, id)
BERTH_TWIN(cuStreamGetCtx, _ptsz, get_context, (CUstream stream, CUcontext* context), stream,
           context)
BERTH_TWIN(cuStreamAddCallback, _ptsz, add_callback,
           (CUstream stream, CUstreamCallback callback, void* data, unsigned int flags), stream,
           callback, data, flags)
BERTH_TWIN(cuLaunchHostFunc, _ptsz, launch_host, (CUstream stream, CUhostFn function, void* data),
           stream, function, data)
BERTH_TWIN(cuEventRecord, _ptsz, record_now, (CUevent event, CUstream stream), event, stream)
BERTH_TWIN(cuEventRecordWithFlags, _ptsz, record_event,
           (CUevent event, CUstream stream, unsigned int flags), event, stream, flags)

CUresult cuStreamCreate(CUstream* to, unsigned int flags) { return create_stream(to, flags, 0); }

CUresult cuStreamCreateWithPriority(CUstream* to, unsigned int flags, int priority) {
    return create_stream(to, flags, priority);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
    return enter([&](Driver& driver, Lock&) {
        Stream* stream = driver.streams.find(handle);
        if (stream == nullptr || stream->is_destroyed || stream->is_per_thread ||
            stream == stream->context->legacy)
            return CUDA_ERROR_INVALID_HANDLE;
        destroy_stream(driver, *stream);
        return CUDA_SUCCESS;
    });
}

CUresult cuEventCreate(CUevent* to, unsigned int flags) {
    return enter_context([&](Driver& driver, Context& context, Lock&) {
        if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
        auto event = std::make_unique<Event>();
        event->context = &context;
        event->flags = flags;
        *to = reinterpret_cast<CUevent>(driver.events.add(std::move(event)));
        return CUDA_SUCCESS;
    });
}

CUresult cuEventDestroy_v2(CUevent handle) {
    return enter([&](Driver& driver, Lock&) {
        return driver.events.remove(handle) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
    });
}

CUresult cuEventQuery(CUevent handle) {
    return enter_event(handle, [](Driver& driver, Event& event, Lock&) {
        pump(driver);
        return event.is_done() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    });
}

CUresult cuEventSynchronize(CUevent handle) {
    return enter_event(handle, [](Driver& driver, Event& event, Lock& lock) {
        const auto progress = event.progress;
        const std::uint64_t count = event.count;
        if (progress == nullptr) return CUDA_SUCCESS;
        const CUresult result = wait_until(driver, lock, [&] { return progress->done >= count; });
        trim_pools(driver);
        return result;
    });
}

CUresult cuEventElapsedTime(float* ms, CUevent start_handle, CUevent end_handle) {
    return enter([&](Driver& driver, Lock&) {
        const Event* start = driver.events.find(start_handle);
        const Event* end = driver.events.find(end_handle);
        if (start == nullptr || end == nullptr) return CUDA_ERROR_INVALID_HANDLE;
        if (ms == nullptr || !has_time(*start) || !has_time(*end)) return CUDA_ERROR_INVALID_HANDLE;
        if (start->progress == nullptr || end->progress == nullptr)
            return CUDA_ERROR_INVALID_HANDLE;
        pump(driver);
        if (!start->is_done() || !end->is_done()) return CUDA_ERROR_NOT_READY;
        const double passed_ns =
            static_cast<double>(end->stamp->ns) - static_cast<double>(start->stamp->ns);
        *ms = static_cast<float>(passed_ns / 1e6);
        return CUDA_SUCCESS;
    });
}

CUresult cuEventElapsedTime_v2(float* ms, CUevent start, CUevent end) {
    return cuEventElapsedTime(ms, start, end);
}
