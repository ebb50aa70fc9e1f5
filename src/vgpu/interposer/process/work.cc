// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/process/work.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>

#include "vgpu/interposer/driver/real_driver.h"
#include "vgpu/interposer/locked.h"
#include "vgpu/interposer/now.h"
#include "vgpu/interposer/process/seat.h"
#include "vgpu/interposer/process/stream_marks.h"
#include "vgpu/ledger/busy.h"

namespace berth::vgpu::interposer {
namespace {

constexpr std::int64_t kBlockedMax = 1'000'000'000;
constexpr std::int64_t kLookEvery = 200'000;  // of who waits for its stream, unless it is woken
// With work at one time on one GPU. Work of more is in no stream's marks; it is charged for as long
// as one of these has work.
constexpr std::uint32_t kStreamsMax = 64;
constexpr std::uint32_t kSparesMax = 256;

struct Stream {
    const void* key = nullptr;  // nullptr: unused
    CUcontext context = nullptr;
    StreamMarks marks;
};

struct Spare {
    CUevent event = nullptr;
    CUcontext context = nullptr;
};

// The work of this process on one GPU.
struct Work {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    Stream streams[kStreamsMax];
    std::uint32_t streams_end = 0;  // streams from here on were never used
    const Stream* waited_for = nullptr;  // its oldest mark, by the thread
    Spare spare[kSparesMax];  // events to use again
    std::uint32_t spares = 0;
    bool has_thread = false;
};
Work works[ledger::kGpusMax];

// A thread's own stream has the same handle in each of them.
const void* key_of(CUstream stream) {
    if (stream == cu_stream_per_thread()) return reinterpret_cast<const void*>(::pthread_self());
    return stream == nullptr ? cu_stream_legacy() : stream;
}

// nullptr: as many others have work.
Stream* find(Work& work, CUcontext context, CUstream stream) {
    const void* key = key_of(stream);
    Stream* unused = nullptr;
    for (std::uint32_t index = 0; index < work.streams_end; ++index) {
        Stream& one = work.streams[index];
        if (one.key == key && one.context == context) return &one;
        if (one.key == nullptr) unused = &one;
    }
    if (unused == nullptr && work.streams_end < kStreamsMax)
        unused = &work.streams[work.streams_end++];
    for (Stream& one : work.streams)
        if (unused == nullptr && one.marks.is_empty()) unused = &one;
    if (unused != nullptr) *unused = {key, context, {}};
    return unused;
}

// The one whose oldest mark was made first; nullptr: there are none.
Stream* oldest(Work& work) {
    Stream* found = nullptr;
    for (std::uint32_t index = 0; index < work.streams_end; ++index) {
        Stream& one = work.streams[index];
        if (one.marks.is_empty()) continue;
        if (found == nullptr || one.marks.oldest_since() < found->marks.oldest_since())
            found = &one;
    }
    return found;
}

void keep_spare(Work& work, const Spare& spare) {
    if (work.spares < kSparesMax)
        work.spare[work.spares++] = spare;
    else
        load_real_driver().cuEventDestroy_v2(spare.event);
}

// Takes the marks of a stream that were passed by now. Its context is current.
void look(Work& work, Stream& stream, std::int64_t now, Seen seen) {
    const RealDriver& real = load_real_driver();
    std::uint32_t passed = 0;
    // What cannot be asked, as of a context that is gone, is nothing to wait for.
    while (passed < stream.marks.count() &&
           real.cuEventQuery(stream.marks.event(passed)) != CUDA_ERROR_NOT_READY)
        keep_spare(work, {stream.marks.event(passed++), stream.context});
    if (passed == 0) return stream.marks.not_passed(now);
    stream.marks.passed(passed, now, seen);
}

// Says since when this process has had what is left of its work; false where nothing is.
bool settle(Work& work, Gpu gpu, std::int64_t now) {
    const Stream* const first = oldest(work);
    const auto place = work_place(gpu);
    if (!place || place->line->slots[place->slot].busy_since == 0) return first != nullptr;
    ledger::end_busy(*place, now, first == nullptr ? 0 : first->marks.oldest_since());
    if (first != nullptr) return true;
    // What follows the last marks runs now.
    std::int64_t unmarked = 0;
    for (std::uint32_t index = 0; index < work.streams_end; ++index)
        unmarked = std::max(unmarked, work.streams[index].marks.unmarked_ns(now));
    ledger::count_ahead(*place, now, unmarked);
    return false;
}

// Waits for the oldest mark, and looks at all streams then, for the life of the process.
void* keep_account(void* argument) {
    const auto gpu = static_cast<Gpu>(reinterpret_cast<std::intptr_t>(argument));
    Work& work = works[gpu];
    const RealDriver& real = load_real_driver();
    // Another thread may capture: what this one calls must not count as part of it.
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (real.cuThreadExchangeStreamCaptureMode != nullptr)
        real.cuThreadExchangeStreamCaptureMode(&mode);
    CUcontext current = nullptr;
    while (true) {
        ::pthread_mutex_lock(&work.lock);
        Stream* stream = oldest(work);
        for (; stream == nullptr; stream = oldest(work))
            ::pthread_cond_wait(&work.changed, &work.lock);
        const CUevent event = stream->marks.oldest();
        const CUcontext context = stream->context;
        work.waited_for = stream;
        ::pthread_mutex_unlock(&work.lock);
        if (context != current) real.cuCtxSetCurrent(context);
        current = context;
        real.cuEventSynchronize(event);
        const std::int64_t now = now_ns();
        ::pthread_mutex_lock(&work.lock);
        work.waited_for = nullptr;
        for (std::uint32_t index = 0; index < work.streams_end; ++index) {
            Stream& one = work.streams[index];
            if (one.context != context || one.marks.is_empty()) continue;
            const bool is_waited_for = &one == stream && one.marks.oldest() == event;
            look(work, one, now, is_waited_for ? Seen::at_once : Seen::later);
        }
        const bool is_busy = settle(work, gpu, now);
        ::pthread_cond_broadcast(&work.changed);
        ::pthread_mutex_unlock(&work.lock);
        // The next tenant may begin: this GPU is free.
        if (!is_busy && gated_word->load() != 0) ring_arbiter(gpu);
    }
}

// Looks by itself where the thread waits for another stream.
void look_unless_waited_for(Work& work, Stream& stream, Gpu gpu, std::int64_t now) {
    if (work.waited_for == &stream || stream.marks.is_empty()) return;
    look(work, stream, now, Seen::later);
    settle(work, gpu, now);
}

void wait_for_room(Work& work, Stream& stream, Gpu gpu) {
    const std::int64_t ahead = ahead_ns(gpu);
    std::int64_t now = now_ns();
    // No longer: what is under way may wait for what is to be launched.
    const std::int64_t end = now + kBlockedMax;
    while (now < end && stream.marks.room_at(ahead, now) > now) {
        look_unless_waited_for(work, stream, gpu, now);
        const std::int64_t at = stream.marks.room_at(ahead, now);
        if (at <= now) return;
        const std::int64_t look_at = work.waited_for == &stream ? end : now + kLookEvery;
        const std::int64_t until = std::min({at, end, look_at});
        const timespec time{until / 1'000'000'000, until % 1'000'000'000};
        ::pthread_cond_timedwait(&work.changed, &work.lock, &time);
        now = now_ns();
    }
}

bool start_accounting(Work& work, Gpu gpu) {
    if (work.has_thread) return true;
    // Nothing waits yet. Its clock is now_ns()'s, said in the way that old C libraries know.
    pthread_condattr_t manner;
    ::pthread_condattr_init(&manner);
    ::pthread_condattr_setclock(&manner, CLOCK_MONOTONIC);
    ::pthread_cond_init(&work.changed, &manner);
    ::pthread_condattr_destroy(&manner);
    work.has_thread =
        start_thread(keep_account, reinterpret_cast<void*>(static_cast<std::intptr_t>(gpu)));
    return work.has_thread;
}

CUevent take_event(Work& work, CUcontext context) {
    for (std::uint32_t index = 0; index < work.spares; ++index) {
        if (work.spare[index].context != context) continue;
        const CUevent event = work.spare[index].event;
        work.spare[index] = work.spare[--work.spares];
        return event;
    }
    CUevent event = nullptr;
    const RealDriver& real = load_real_driver();
    const CUresult result =
        real.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);
    return result == CUDA_SUCCESS ? event : nullptr;
}

// Sets a mark behind what was launched last. False when it cannot be.
bool mark(Work& work, Stream& stream, CUstream handle, std::int64_t now) {
    if (!stream.marks.has_room_for_mark()) return false;
    const CUevent event = take_event(work, stream.context);
    if (event == nullptr) return false;
    if (load_real_driver().cuEventRecord(event, handle) != CUDA_SUCCESS) {
        keep_spare(work, {event, stream.context});
        return false;
    }
    stream.marks.mark(event, now);
    ::pthread_cond_broadcast(&work.changed);
    return true;
}

}  // namespace

GatedLaunch::GatedLaunch(CUstream stream, iterations::Passage passage)
    : stream_(stream), passage_(passage), here_(here()) {
    if (here_.gpu < 0 || is_capturing(stream)) return;
    Work& work = works[here_.gpu];
    {
        const Locked locked(work.lock);
        counts_ = start_accounting(work, here_.gpu);
        Stream* const known = counts_ ? find(work, here_.context, stream) : nullptr;
        if (known != nullptr) wait_for_room(work, *known, here_.gpu);
    }
    if (pass_gate(here_.gpu, passage) == ledger::Gate::open) counts_ = false;
    if (!counts_) return;
    if (const auto place = work_place(here_.gpu)) ledger::begin_busy(*place, now_ns());
}

void GatedLaunch::launched(CUresult result) const {
    if (!counts_) return;
    Work& work = works[here_.gpu];
    const Locked locked(work.lock);
    const std::int64_t now = now_ns();
    Stream* const stream = result == CUDA_SUCCESS ? find(work, here_.context, stream_) : nullptr;
    bool is_marked = false;
    bool was_idle = oldest(work) == nullptr;
    if (stream != nullptr) {
        stream->marks.launched(now);
        if ((passage_ & iterations::kEnds) != 0 || stream->marks.is_mark_due(now)) {
            look_unless_waited_for(work, *stream, here_.gpu, now);
            was_idle = oldest(work) == nullptr;
            is_marked = mark(work, *stream, stream_, now);
        }
    }
    const auto place = work_place(here_.gpu);
    if (!was_idle || !place) return;
    place->line->slots[place->slot].busy_since = is_marked ? now : 0;
    if (stream != nullptr && !is_marked)
        ledger::count_ahead(*place, now, stream->marks.launch_ns());
}

void forget_marks(CUcontext context) {
    for (Work& work : works) {
        const Locked locked(work.lock);
        for (std::uint32_t index = 0; index < work.spares;) {
            if (work.spare[index].context == context)
                work.spare[index] = work.spare[--work.spares];
            else
                ++index;
        }
        for (Stream& stream : work.streams)
            if (stream.context == context) stream = {};
        settle(work, static_cast<Gpu>(&work - works), now_ns());
    }
}

}  // namespace berth::vgpu::interposer
