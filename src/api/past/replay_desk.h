// SPDX-License-Identifier: Apache-2.0
//
// Which replays of the past are there, and how far are they? Each is done on the other thread, a
// part at a time (simulation/history/rerun.h), so that others have their turns between. The thread
// that decides passes it on from part to part, and keeps what came of it (ADR 0055). Replays do not
// outlive the server.
#pragma once

#include <map>
#include <memory>

#include "ports/background.h"
#include "ports/log_reader.h"
#include "simulation/history/rerun.h"

namespace berth::api {

inline constexpr std::size_t kReplaysAtOnce = 2;
inline constexpr std::size_t kReplaysKept = 16;  // those that are under way among them

class ReplayDesk {
  public:
    ReplayDesk(ports::OpenLog open_log, ports::Background background)
        : open_log_(std::move(open_log)), background_(std::move(background)) {}

    // Its number, which no replay of an earlier server had. Errors: Exhausted, when as many are
    // under way as can be at once.
    base::Result<std::int64_t> begin(simulation::RerunQuestion question);
    // Null: there is none of that number, or none any more.
    const model::WhatIfReplay* find(std::int64_t id) const;
    // One that has ended stays as it is. False: there is none.
    bool cancel(std::int64_t id);

  private:
    struct Replay {
        model::WhatIfReplay known;
        std::shared_ptr<simulation::Rerun> work;  // with the other thread, while it is under way
    };

    void go_on(std::int64_t id);
    void came_back(std::int64_t id);
    void forget_oldest();

    ports::OpenLog open_log_;
    ports::Background background_;
    std::map<std::int64_t, Replay> replays_;
    std::int64_t last_ = 0;
};

}  // namespace berth::api
