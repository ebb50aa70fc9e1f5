// SPDX-License-Identifier: Apache-2.0
//
// What do thirty engineers ask of their GPUs in four weeks, and who is entitled to what? A
// generated stream of jobs and the two ways to hand out the same hardware: 30 low-end GPUs to build
// on, and 15 nodes of 8 GPUs to train on, one and four GPUs for each engineer.
//
//   builds       on a working day nine of ten engineers open a session on one GPU between 8:30 and
//                10:00, for six to nine hours
//   experiments  who is in the training phase of a project hands in a sweep on every working day;
//                everybody else tries something on every other one: one to five experiments
//   experiment   1, 2 or 4 GPUs (85, 10, 5 of 100), never more than the engineer owns; between 15
//                minutes and 16 hours, every doubling as likely as the next
//
// How many engineers train at a time sets how unevenly demand is spread, the size of a sweep how
// much there is of it.
#pragma once

#include <cstdint>

#include "model/description.h"
#include "simulation/trace/trace.h"

namespace berth::case_study {

inline constexpr int kEngineers = 30;
inline constexpr int kWeeks = 4;
inline constexpr int kBuildGpus = kEngineers;
inline constexpr int kTrainGpus = 4 * kEngineers;
inline constexpr base::Duration kWindow = std::chrono::weeks(kWeeks);

struct Site {
    int training = 8;  // engineers in a training phase
    int sweeps_gpus = 105;  // what all sweeps together fill on average, day and night
};

// Whether the job belongs to an engineer in a training phase.
bool is_of_training(const Site& site, const simulation::TraceJob& job);

// The same seed gives the same stream.
simulation::Trace stream(const Site& site, std::uint64_t seed);

enum class Assignment {
    Static,  // each engineer has GPUs, to build and to train
    Shared,  // to build as before; to train everybody is guaranteed as many, and idle ones are lent
};

model::Description cluster(Assignment assignment);

}  // namespace berth::case_study
