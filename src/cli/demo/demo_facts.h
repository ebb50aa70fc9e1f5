// SPDX-License-Identifier: Apache-2.0
//
// What really happened in the demo? Numbers from the server's own event log and from what the
// jobs printed, and whether each promise was kept.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/event.h"

namespace berth::cli {

struct JobFacts {
    std::string name;
    std::string project;
    base::TimePoint submitted;
    std::optional<base::TimePoint> running;  // first time
    base::Duration wait{0};                  // before it first ran
    base::Duration away{0};                  // paused, waiting to go on; summed
    int pauses = 0;
    int killed_pauses = 0;                   // it had not saved in time
    int attempts = 0;
    bool succeeded = false;
};

struct DemoFacts {
    std::map<model::JobId, JobFacts> jobs;
    model::MilliGpu held_max{0};                      // by all, at one moment
    model::MilliGpu gpu_held_max{0};                  // of any one GPU
    // By a project once all its jobs have started, while some of them wait again.
    std::map<std::string, model::MilliGpu> held_min;
};

// Folds the events in their order.
DemoFacts facts_of(std::span<const model::Event> events);

// The steps a training job printed: its lines "step N ...", attempt after attempt.
struct StepFacts {
    int done = 0;        // different steps
    int repeated = 0;    // done again after a pause: lost work
    int missing = 0;     // left out
    int last = 0;
};
StepFacts steps_in(std::span<const std::string> logs);

// One promise of the demo.
struct Promise {
    bool is_kept = false;
    std::string text;    // with the numbers
};

// An owner's job runs within this time of its submission, on a slow and busy machine as well: the
// borrower's job is asked to save, saves, and has gone.
inline constexpr base::Duration kOwnerWaitMax{500};

struct DemoStory {
    std::string borrower;                 // Susan's project
    std::vector<std::string> owners;      // Joe's and Jemma's
    model::MilliGpu quota{0};             // of each
    model::MilliGpu gpus{0};              // of the machine
    int steps = 0;                        // of each of the borrower's jobs
};

std::vector<Promise> judge(const DemoStory& story, const DemoFacts& facts,
                           const std::map<model::JobId, StepFacts>& steps);

}  // namespace berth::cli
