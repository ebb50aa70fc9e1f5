// SPDX-License-Identifier: Apache-2.0
//
// What were all jobs in some time? The log is folded (timeline/lives.h) and the answer is written
// on the other thread, by a reader of its own: nothing is asked of the thread that decides but what
// a question brings with it. The log is read when it is first asked for, a part at a time, so that
// others have their turns between; later only what has happened since (ADR 0051).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ports/background.h"
#include "ports/log_reader.h"
#include "timeline/lives.h"

namespace berth::api {

// One part; and of a longer log the last events are read.
inline constexpr std::int64_t kPartOfLog = 5'000;
inline constexpr std::int64_t kLogLookedAt = 1'000'000;

struct SpanQuestion {
    timeline::SpansAsked asked;
    model::TimePoint now;
    base::Duration date_shift{0};  // ports::Clock
    std::int64_t last = 0;  // the sequence of the newest event
    bool is_small = false;  // gzipped
    std::shared_ptr<const std::vector<std::string>> node_names;  // by NodeId
    // What is expected of those that live.
    struct Expected {
        std::vector<model::ExpectedSpan> spans;
        model::Evidence evidence = model::Evidence::None;
    };
    std::map<model::JobId, Expected> expected;
};

class SpanDesk {
  public:
    // A document, gzipped where the question says so. Errors: Unavailable (the log cannot be read),
    // Exhausted (too much else is asked of the other thread).
    using Done = std::function<void(base::Result<std::string>)>;

    SpanDesk(ports::OpenLog open_log, ports::Background background)
        : open_log_(std::move(open_log)), background_(std::move(background)) {}

    // `done` is called later, or at once with an error.
    void ask(SpanQuestion question, Done done);

  private:
    struct Reading;
    struct Waiting {
        std::shared_ptr<SpanQuestion> question;
        Done done;
    };

    void begin();
    void finish();

    ports::OpenLog open_log_;
    ports::Background background_;
    std::shared_ptr<Reading> reading_;  // with the other thread while is_away_
    bool is_away_ = false;
    std::vector<Waiting> waiting_;
};

}  // namespace berth::api
