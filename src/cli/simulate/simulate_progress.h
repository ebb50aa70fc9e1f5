// SPDX-License-Identifier: Apache-2.0
//
// How far is a simulation? One line on a terminal, written again at most four times a second and
// gone when it ends; nothing where standard error is a file or a pipe.
#pragma once

#include <chrono>
#include <string>

#include "cli/terminal/style.h"
#include "simulation/replay/replay.h"

namespace berth::cli {

// "learned: 12 of 300 jobs finished, 3h20m simulated"
std::string progress_text(const std::string& policy, const simulation::Progress& progress,
                          std::size_t jobs);

class ProgressLine {
  public:
    using Clock = std::chrono::steady_clock;

    // Style and trace outlive it.
    ProgressLine(const Style& style, std::string policy, const simulation::Trace& trace);
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    // What a replay is to call; empty without a terminal.
    simulation::OnProgress shown();
    // Whether it is to be written again at `now`: at first, then a while after the last time.
    bool is_due(Clock::time_point now);
    void clear();

  private:
    void show(const simulation::Progress& progress);

    const Style& style_;
    std::string policy_;
    const simulation::Trace& trace_;
    Clock::time_point next_ = Clock::time_point::min();
    bool is_shown_ = false;
};

}  // namespace berth::cli
