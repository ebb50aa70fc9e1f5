// SPDX-License-Identifier: Apache-2.0
//
// For tests: a log, and the other thread, which works when a test says so. Both are looked at.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ports/background.h"
#include "ports/log_reader.h"

namespace berth::api {

class LogOfTest {
  public:
    void submit(model::JobId job) {
        model::JobSpec spec;
        spec.name = "j" + std::to_string(job.value);
        spec.project = "nlp";
        happen(model::JobSubmitted{job, spec, "maria", "true"});
    }
    void happen(model::EventBody body) {
        const auto sequence = std::ssize(events) + 1;
        events.push_back({sequence, base::at_ms(sequence * 1'000), "test", std::move(body)});
    }
    ports::Background background() {
        return [this](std::function<void()> work, std::function<void()> then) {
            if (is_busy) return false;
            turns.push_back({std::move(work), std::move(then)});
            return true;
        };
    }
    ports::OpenLog open_log() {
        return [this]() -> base::Result<std::unique_ptr<ports::LogReader>> {
            ++opened;
            return std::make_unique<Reader>(*this);
        };
    }
    // False: there was nothing to do.
    bool turn() {
        if (turns.empty()) return false;
        auto [work, then] = std::move(turns.front());
        turns.pop_front();
        work();
        then();
        return true;
    }
    // How many turns it took.
    int work() {
        int count = 0;
        while (turn()) ++count;
        return count;
    }
    std::vector<model::Event> events;
    std::deque<std::pair<std::function<void()>, std::function<void()>>> turns;
    std::int64_t read = 0;
    int opened = 0;
    bool is_busy = false;
    bool is_broken = false;

  private:
    struct Reader final : ports::LogReader {
        explicit Reader(LogOfTest& its_log) : log(its_log) {}
        base::Status read_events(std::int64_t after, std::int64_t limit,
                                 const std::function<void(model::Event&&)>& visit) override {
            if (log.is_broken) return base::fail(base::ErrorCode::Unavailable, "broken");
            const auto end = std::min<std::int64_t>(std::ssize(log.events), after + limit);
            for (std::int64_t i = after; i < end; ++i, ++log.read)
                visit(model::Event(log.events[static_cast<std::size_t>(i)]));
            return {};
        }
        LogOfTest& log;
    };
};

}  // namespace berth::api
