// SPDX-License-Identifier: Apache-2.0
//
// What is a controller given: how it is to work, and what it works through?
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>

#include "model/event.h"
#include "model/policy/policy.h"
#include "ports/clock.h"
#include "ports/launcher.h"
#include "ports/store.h"

namespace berth::control {

// A job whose attempts were lost more often in a row, none with progress, is given up.
inline constexpr int kLostAttemptsMax = 5;
// An attempt that should have been killed by now is asked again after this. One that is visibly
// saving is given some of it (docs/reference/job-processes.md).
inline constexpr base::Duration kStopPatience{30 * 1000};
// News without an action wait this long for others to share a write with. A short job has ended by
// then, and costs one write instead of two.
inline constexpr base::Duration kNewsLinger{20};

struct Settings {
    model::Policy policy;  // but for what people set
    // A snapshot is written after this number of events, or a few for each live job.
    std::int64_t snapshot_events = 20'000;
    // Tasks are processes of another system: a gang may have companions that are unlike its tasks.
    bool may_be_unlike = false;
    // Something was queued: step() should be called within this time.
    std::function<void(base::Duration)> wake = [](base::Duration) {};
    // These events are durable now; the state includes them.
    std::function<void(std::span<const model::Event>)> committed = [](auto) {};
    // A decision was made; how long it took.
    std::function<void(std::chrono::nanoseconds)> decided = [](auto) {};
};

struct Ports {
    const ports::Clock& clock;
    ports::Store& store;
    ports::Launcher& launcher;
};

}  // namespace berth::control
