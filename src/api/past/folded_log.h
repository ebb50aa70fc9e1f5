// SPDX-License-Identifier: Apache-2.0
//
// What was the state of the cluster at a moment? The log from its first event, folded up to there
// (lifecycle/apply.h), a part at a time. On the way snapshots are kept, as a server writes them:
// the next question begins at the nearest one before its moment.
//
// Cost: memory of one state and of the snapshots. Where these reach a limit every other one is
// dropped and the next are kept half as often: of a log that was read before, a question reads at
// most one in `snapshots / 2` of its events, and a part. Used on one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lifecycle/apply.h"
#include "ports/log_reader.h"

namespace berth::api {

struct FoldLimits {
    std::int64_t part = 2'000;  // events
    std::int64_t question = 500'000;  // events for one question (moment_desk.h)
    std::size_t snapshots = 64;  // kept at most; of these bytes together
    std::size_t bytes = 64 * 1024 * 1024;
};

class FoldedLog {
  public:
    explicit FoldedLog(ports::OpenLog open_log, FoldLimits limits = {})
        : open_log_(std::move(open_log)), limits_(limits), spacing_(limits.part) {}

    // Folds one part on towards `at`. True when the state is that of the moment: all events that
    // are not later are in it. Errors: NotFound (the log begins later), Unavailable (it cannot be
    // read), Internal (it contradicts itself).
    base::Result<bool> fold_on(model::TimePoint at);
    const lifecycle::State& state() const { return state_; }
    const FoldLimits& limits() const { return limits_; }
    // When its first event was; once a part was folded.
    std::optional<model::TimePoint> begins() const { return begins_; }

  private:
    struct Kept {
        std::int64_t sequence = 0;
        model::TimePoint time;
        std::string snapshot;  // as the store has it
    };
    struct Part {
        std::int64_t events = 0;
        bool is_at_moment = false;
        base::Status wrong = {};
    };

    base::Status open();
    // To the nearest state that is not later, the one there is or one that was kept.
    base::Status go_near(model::TimePoint at);
    void fold(const model::Event& event, model::TimePoint at, Part& part);
    void keep();
    void drop_every_other();

    ports::OpenLog open_log_;
    FoldLimits limits_;
    std::unique_ptr<ports::LogReader> log_;
    lifecycle::State state_;
    std::optional<model::TimePoint> begins_;
    std::vector<Kept> kept_;  // by sequence
    std::size_t kept_bytes_ = 0;
    std::int64_t spacing_;  // events from one to the next
};

}  // namespace berth::api
