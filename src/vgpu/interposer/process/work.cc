// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/process/work.h"

#include <pthread.h>
#include <time.h>

#include <algorithm>

#include "vgpu/interposer/driver/real_driver.h"
#include "vgpu/interposer/locked.h"
#include "vgpu/interposer/now.h"
#include "vgpu/interposer/process/seat.h"
#include "vgpu/ledger/busy.h"

namespace berth::vgpu::interposer {
namespace {

constexpr std::int64_t kBetweenMarks = 500'000;  // ns of work
// Work behind the last passed mark that may stay without one: a mark for each short kernel would
// take longer than the kernel, and the GPU would wait for the next.
constexpr std::int64_t kUnmarkedMax = 50'000;
constexpr std::int64_t kFollows = 500'000;  // before one ends the next must be launched
constexpr std::int64_t kBlockedMax = 1'000'000'000;
constexpr std::uint32_t kLaunchesMax = 64;       // between marks
constexpr std::uint32_t kMarksMax = 64;
constexpr std::int64_t kLateMax = 250'000;  // of the thread that waits for marks
constexpr std::int64_t kWeightMax = 16;
constexpr std::uint32_t kMarksUnmeasured = 4;  // while nothing is known about the work

struct Mark {
    CUevent event = nullptr;
    CUcontext context = nullptr;
    std::int64_t made_at = 0;
    std::uint32_t launches = 0;  // since the mark before
};

// The work of this process on one GPU.
struct Work {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
    Mark marks[kMarksMax];  // a ring: what is under way
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    Mark spare[kMarksMax];  // events to use again
    std::uint32_t spares = 0;
    std::uint32_t unmarked = 0;          // launches since the last mark
    std::int64_t launch_ns = 0;          // what one takes, lately; 0: not known
    std::int64_t busy_until = 0;         // seen so far
    std::int64_t first_unmarked_at = 0;  // when work began behind the last mark
    std::int64_t marked_at = 0;
    std::int64_t launched_at = 0;
    bool has_thread = false;
};
Work works[ledger::kGpusMax];

bool is_capturing(CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const RealDriver& real = load_real_driver();
    return real.cuStreamIsCapturing != nullptr &&
           (real.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
            status != CU_STREAM_CAPTURE_STATUS_NONE);
}

// The oldest mark has been passed: what lay before it is done.
void account(Work& work, Gpu gpu, const Mark& mark, std::int64_t now) {
    const std::int64_t began = std::max(mark.made_at, work.busy_until);
    const std::int64_t took = std::max<std::int64_t>(now - began, 0);
    work.busy_until = now;
    const std::int64_t launches = std::max<std::uint32_t>(mark.launches, 1);
    const std::int64_t each = took / launches;
    // What took little may say more about how late this thread is: it counts by its launches.
    const std::int64_t weight = took >= kLateMax ? kWeightMax : std::min(launches, kWeightMax);
    if (work.launch_ns == 0) work.launch_ns = each;
    work.launch_ns += (each - work.launch_ns) * weight / (4 * kWeightMax) + 1;
    const auto place = work_place(gpu);
    if (!place || work.count > 0) return;
    ledger::end_busy(*place, now);
    // What follows the last mark runs now.
    ledger::count_ahead(*place, now, work.unmarked * work.launch_ns);
}

// The oldest mark, and those behind it that were passed by now: where this thread is late, they
// took the time together. What it says is when the first was made, and the launches of all.
Mark take_passed(Work& work, const RealDriver& real) {
    Mark passed = work.marks[work.first];
    std::uint32_t launches = 0;
    do {
        const Mark mark = work.marks[work.first];
        launches += mark.launches;
        work.first = (work.first + 1) % kMarksMax;
        --work.count;
        if (work.spares < kMarksMax) work.spare[work.spares++] = mark;
    } while (work.count > 0 && work.marks[work.first].context == passed.context &&
             real.cuEventQuery(work.marks[work.first].event) == CUDA_SUCCESS);
    passed.launches = launches;
    return passed;
}

// Takes marks in order and waits for each, for the life of the process.
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
        while (work.count == 0) ::pthread_cond_wait(&work.changed, &work.lock);
        const Mark mark = work.marks[work.first];
        ::pthread_mutex_unlock(&work.lock);
        if (mark.context != current) real.cuCtxSetCurrent(mark.context);
        current = mark.context;
        // Whatever it says, even of a context that is gone: there is no more to wait for.
        real.cuEventSynchronize(mark.event);
        const std::int64_t now = now_ns();
        ::pthread_mutex_lock(&work.lock);
        account(work, gpu, take_passed(work, real), now);
        const bool is_idle = work.count == 0;
        ::pthread_cond_broadcast(&work.changed);
        ::pthread_mutex_unlock(&work.lock);
        // The next tenant may begin: this GPU is free.
        if (is_idle && gated_word->load() != 0) ring_arbiter(gpu);
    }
}

// What is left of what was launched, by what launches took lately. What is on the GPU now may take
// longer than that, and counts for nothing then; so the next one is launched before it ends.
std::int64_t under_way(const Work& work, std::int64_t now) {
    const Mark& oldest = work.marks[work.first];
    const std::int64_t began = std::max(oldest.made_at, work.busy_until);
    const std::int64_t left = oldest.launches * work.launch_ns - (now - began);
    std::int64_t launches = work.unmarked;
    for (std::uint32_t index = 1; index < work.count; ++index)
        launches += work.marks[(work.first + index) % kMarksMax].launches;
    return launches * work.launch_ns + std::max<std::int64_t>(left, 0);
}

// When there is room for one more launch, if no mark is passed before that; `now` or before: there
// is. INT64_MAX: once a mark is passed.
std::int64_t room_at(const Work& work, std::int64_t ahead, std::int64_t now) {
    if (work.count == 0) return now;
    if (work.launch_ns == 0) return work.count >= kMarksUnmeasured ? INT64_MAX : now;
    if (work.count == kMarksMax) return INT64_MAX;
    const std::int64_t left = under_way(work, now);
    if (left <= std::max(ahead - work.launch_ns, kFollows)) return now;
    // For several at once, where they are short: to wake for each costs more than they take.
    return now + left - std::max(ahead - kBetweenMarks, kFollows);
}

void wait_for_room(Work& work, Gpu gpu) {
    const std::int64_t ahead = ahead_ns(gpu);
    std::int64_t now = now_ns();
    // No longer: what is under way may wait for what is to be launched.
    const std::int64_t end = now + kBlockedMax;
    for (std::int64_t at = room_at(work, ahead, now); at > now && now < end;
         at = room_at(work, ahead, now)) {
        const std::int64_t until = std::min(at, end);
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

bool is_mark_due(const Work& work, std::int64_t now) {
    const std::int64_t between = work.count == 0 ? kUnmarkedMax : kBetweenMarks;
    return work.launch_ns == 0 || work.unmarked >= kLaunchesMax ||
           work.unmarked * work.launch_ns >= between || now - work.first_unmarked_at >= between ||
           (work.count == 0 && now - work.marked_at >= between);
}

// What was launched now. Whether a mark was set behind it.
bool note(Work& work, const Here& here, CUstream stream, iterations::Passage passage,
          std::int64_t now) {
    // Those before it have ended long ago, without a mark.
    if (work.count == 0 && now - work.launched_at >= kUnmarkedMax) work.unmarked = 0;
    work.launched_at = now;
    if (work.unmarked++ == 0) work.first_unmarked_at = now;
    const bool ends = (passage & iterations::kEnds) != 0;
    if ((!ends && !is_mark_due(work, now)) || work.count == kMarksMax) return false;
    const CUevent event = take_event(work, here.context);
    const RealDriver& real = load_real_driver();
    if (event == nullptr || real.cuEventRecord(event, stream) != CUDA_SUCCESS) return false;
    work.marks[(work.first + work.count) % kMarksMax] = {event, here.context,
                                                         work.first_unmarked_at, work.unmarked};
    ++work.count;
    work.unmarked = 0;
    work.marked_at = now;
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
        if (start_accounting(work, here_.gpu)) wait_for_room(work, here_.gpu);
        counts_ = work.has_thread;
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
    const bool was_idle = work.count == 0;
    const bool is_marked = result == CUDA_SUCCESS && note(work, here_, stream_, passage_, now);
    const auto place = work_place(here_.gpu);
    if (!was_idle || !place) return;
    place->line->slots[place->slot].busy_since = is_marked ? now : 0;
    if (!is_marked && result == CUDA_SUCCESS) ledger::count_ahead(*place, now, work.launch_ns);
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
    }
}

}  // namespace berth::vgpu::interposer
