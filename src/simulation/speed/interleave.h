// SPDX-License-Identifier: Apache-2.0
//
// How long is an iteration of jobs that take turns on the stages of one set of GPUs? The model of
// Muri (Zhao et al., SIGCOMM'22) as its released simulator has it (Rivendile/Muri,
// simulator/matching.py): while one reads its input, another computes and a third communicates;
// reading may take two of the four turns of a period; each job does one iteration a period, and
// the jobs stand in the order with the shortest period. Two jobs may take half a period each
// instead. Measured costs of sharing (jobs.py): 1.33, 1.5 and 1.37 for two, three and four jobs,
// 1.015 for one, which its times of stages, unlike those of whole iterations, contain already.
#pragma once

#include <cstddef>
#include <span>

#include "simulation/trace/profile.h"

namespace berth::simulation {

inline constexpr std::size_t kInterleavedMax = 4;

// In milliseconds. All have stages; 1 to kInterleavedMax of them. O(orders of the group).
double interleaved_iteration_ms(std::span<const Profile> group);

}  // namespace berth::simulation
