// SPDX-License-Identifier: Apache-2.0
//
// How is a replay of the last days shown? What really happened, and both sides of the simulation.
#pragma once

#include <string>

#include "cli/terminal/style.h"
#include "model/answer/what_if_replay.h"

namespace berth::cli {

// `title` says what is supposed, and of which days: "with the quota vision=6, in the last 7 days".
std::string replay_page(const model::WhatIfReplay& replay, const std::string& title,
                        const Style& style);

}  // namespace berth::cli
