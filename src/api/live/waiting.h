// SPDX-License-Identifier: Apache-2.0
//
// Who waits for news? Long polls are parked here without a thread: each is a question that is
// asked again when events became durable, or now and then when it is about a file, and a last time
// when its time is over.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <span>
#include <unordered_map>

#include "model/event.h"

namespace berth::api {

inline constexpr base::Duration kWaitMax{60 * 1000};
inline constexpr std::size_t kParkedMax = 10'000;
// Between two looks at files and clocks.
inline constexpr base::Duration kTick{100};

class Waiting {
  public:
    // Answers true when it has given its answer; when `is_last`, it must.
    using Question = std::function<bool(bool is_last)>;
    // Expires when no client waits for the answer any more: the question is forgotten at the next
    // tick.
    using Client = std::weak_ptr<const void>;

    // Asked when something happened to the job.
    void park(model::JobId job, model::TimePoint until, Client client, Question question);
    // Asked at every event.
    void park_for_events(model::TimePoint until, Client client, Question question);
    // Asked at every tick.
    void park_for_ticks(model::TimePoint until, Client client, Question question);

    void on_events(std::span<const model::Event> events);
    // To be called every kTick while is_empty() is false.
    void on_tick(model::TimePoint now);
    void answer_all();
    bool is_empty() const { return size() == 0; }
    bool is_full() const { return size() >= kParkedMax; }
    std::size_t size() const { return for_jobs_.size() + for_events_.size() + for_ticks_.size(); }

  private:
    struct Parked {
        model::TimePoint until;
        Client client;
        Question question;
    };

    std::unordered_multimap<model::JobId, Parked> for_jobs_;
    std::list<Parked> for_events_;
    std::list<Parked> for_ticks_;
};

}  // namespace berth::api
