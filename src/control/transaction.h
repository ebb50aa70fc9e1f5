// SPDX-License-Identifier: Apache-2.0
//
// What does one turn of the loop write down, and what may happen only once that is durable?
// Events are checked, applied to the state and collected into one batch; acknowledgements and
// orders to the launcher wait until the batch is committed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "control/gpu_use/unwritten_use.h"
#include "lifecycle/apply.h"
#include "ports/launcher.h"
#include "ports/store.h"

namespace berth::control {

inline constexpr std::string_view kScheduler = "scheduler";
inline constexpr std::string_view kMachine = "machine";

struct StopOrder {
    ports::AttemptId attempt;
    ports::StopReason reason = ports::StopReason::Pause;
    base::Duration grace{0};
};

class Transaction {
  public:
    // Called with null when all is durable, else with why it is not.
    using Acknowledgement = std::function<void(const base::Error* failure)>;

    // `events`: about how many it will record. What it takes of `use` it records before what takes
    // the GPUs of an attempt.
    Transaction(lifecycle::State& state, UnwrittenUse& use, model::TimePoint now,
                std::size_t events)
        : state_(state), use_(use), now_(now) {
        batch_.events.reserve(events);
    }

    const lifecycle::State& state() const { return state_; }
    model::TimePoint now() const { return now_; }
    // Null when unknown or ended.
    const model::JobRecord* find(model::JobId job) const;

    // Makes it an event, if it is possible now. Errors: those of lifecycle::check.
    base::Status record(model::EventBody body, std::string_view actor);
    // The same for what our own logic has shown to be possible.
    void note(model::EventBody body, std::string_view actor);
    // What was seen of the GPUs of its attempt: now and then that is an event.
    void add_use(const model::JobRecord& job, const UseSeen& seen);

    void keep_launch(model::JobId job, model::LaunchSpec launch);
    // The job of which something was asked under that key in this very turn; not valid when none
    // was.
    model::JobId job_with_key(const std::string& key) const;

    void acknowledge(Acknowledgement tell) { acknowledgements_.push_back(std::move(tell)); }
    void start(model::JobId job) { starts_.push_back(job); }
    void resize(model::JobId job) { resizes_.push_back(job); }
    void stop(StopOrder order) { stops_.push_back(order); }
    void park(ports::AttemptId attempt) { parks_.push_back(attempt); }
    // In the attempt's own log.
    void say(ports::AttemptId attempt, std::string text) {
        sayings_.emplace_back(attempt, std::move(text));
    }

    const ports::Batch& batch() const { return batch_; }
    // The command of a job submitted in this turn, else null.
    const model::LaunchSpec* launch_of(model::JobId job) const;
    // Each is called once.
    std::vector<Acknowledgement> take_acknowledgements() {
        return std::exchange(acknowledgements_, {});
    }
    const std::vector<model::JobId>& starts() const { return starts_; }
    const std::vector<model::JobId>& resizes() const { return resizes_; }
    const std::vector<StopOrder>& stops() const { return stops_; }
    const std::vector<ports::AttemptId>& parks() const { return parks_; }
    const auto& sayings() const { return sayings_; }

  private:
    base::Status apply(model::EventBody body, std::string_view actor);
    void write_use(model::JobId job);

    lifecycle::State& state_;
    UnwrittenUse& use_;
    model::TimePoint now_;
    ports::Batch batch_;
    std::unordered_map<std::string, model::JobId> keys_;
    std::vector<Acknowledgement> acknowledgements_;
    std::vector<model::JobId> starts_;
    std::vector<model::JobId> resizes_;
    std::vector<StopOrder> stops_;
    std::vector<ports::AttemptId> parks_;
    std::vector<std::pair<ports::AttemptId, std::string>> sayings_;
};

}  // namespace berth::control
