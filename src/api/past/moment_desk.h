// SPDX-License-Identifier: Apache-2.0
//
// What was the cluster at a moment? The log is folded on the other thread, a part at a time, so
// that others have their turns between; the thread that decides gets a state of its own, and
// answers from it as it does from the present one (answers/sight.h). The moments that were asked
// for last are kept, so that a page that asks for several things at one moment pays once. Of a log
// longer than is folded for one question the answer is that it is still being read; the next
// question goes on (ADR 0056).
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "api/past/folded_log.h"
#include "control/verdicts.h"
#include "model/policy/policy.h"
#include "ports/background.h"

namespace berth::api {

inline constexpr std::size_t kMomentsKept = 3;

// The cluster as it was, and what decided then. Looked at by one thread, as the present one is.
struct Moment {
    model::TimePoint now;
    lifecycle::State state;
    model::Policy policy;
    control::Verdicts verdicts = {};
};

class MomentDesk {
  public:
    // Errors: NotFound (the log begins later), Exhausted (too much else is asked of the other
    // thread, or the log is still being read), Unavailable (it cannot be read), Internal.
    using Done = std::function<void(base::Result<std::shared_ptr<Moment>>)>;

    // `policy`: with which this server was started; people's changes to it are in the log.
    MomentDesk(FoldedLog log, ports::Background background, model::Policy policy)
        : background_(std::move(background)),
          fold_(std::make_shared<Fold>(std::move(log), std::move(policy))) {}

    // `at` is past: no event will be so early. `done` is called later, or at once with what is
    // known.
    void ask(model::TimePoint at, Done done);
    // When the log begins; once a question was answered.
    std::optional<model::TimePoint> begins() const { return begins_; }

  private:
    using Kept = std::list<std::shared_ptr<Moment>>;
    // Goes to the other thread and comes back, with the question that is first in line.
    struct Fold {
        FoldedLog log;
        model::Policy policy;

        model::TimePoint at = {};
        std::shared_ptr<Moment> found = {};  // null = there is more to read
        base::Status status = {};
        Kept dropped = {};  // that no answer needs any more: they go over there, which takes time

        base::Result<std::shared_ptr<Moment>> moment() const;
        void turn();
    };
    struct Waiting {
        model::TimePoint at;
        Done done;
    };

    void begin();
    void finish();
    std::shared_ptr<Moment> kept(model::TimePoint at);
    void keep(const std::shared_ptr<Moment>& moment);
    void answer(model::TimePoint at, const base::Result<std::shared_ptr<Moment>>& found);

    ports::Background background_;
    std::shared_ptr<Fold> fold_;  // with the other thread while is_away_
    bool is_away_ = false;
    std::int64_t folded_ = 0;  // events at most, for the question that is first
    std::optional<model::TimePoint> begins_;
    std::vector<Waiting> waiting_;
    Kept kept_;  // the one that was asked for last is in front
    Kept dropped_;
};

}  // namespace berth::api
