// SPDX-License-Identifier: Apache-2.0
//
// Is what the log says of a moment that is past what the server was then?
//   moments [--first SEED] [--seeds N]
// In random lives (random_log.h) the state is written down after each event. Then moments are
// asked for in random order of the log's text: the very times of events, times between and times
// after the last. What is folded to each is, byte for byte, the state that was last then.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "api/past/folded_log.h"
#include "codec/log/event_log.h"
#include "random_log.h"
#include "seeds.h"

namespace {

using namespace berth;

constexpr int kSteps = 80;
constexpr int kMoments = 25;

std::string text_of(const lifecycle::State& state) {
    std::string text;
    codec::append_snapshot(text, lifecycle::snapshot(state));
    return text;
}

struct Written {
    model::TimePoint time;
    std::string event;
    std::string state;  // behind it
};

class Reader final : public ports::LogReader {
  public:
    explicit Reader(const std::vector<Written>& log) : log_(log) {}
    base::Status read_events(std::int64_t after, std::int64_t limit,
                             const std::function<void(model::Event&&)>& visit) override {
        const auto end = std::min<std::int64_t>(std::ssize(log_), after + limit);
        for (std::int64_t i = after; i < end; ++i)
            visit(*codec::parse_event(log_[static_cast<std::size_t>(i)].event));
        return {};
    }

  private:
    const std::vector<Written>& log_;
};

// The number of the last event that is not later.
std::size_t last_by(const std::vector<Written>& log, model::TimePoint at) {
    std::size_t last = 0;
    while (last + 1 < log.size() && log[last + 1].time <= at) ++last;
    return last;
}

std::vector<std::string> findings(std::uint64_t seed) {
    std::vector<Written> log;
    {
        const lifecycle::State* state = nullptr;
        proof::RandomLog life(seed, [&](const model::Event& event) {
            log.push_back({event.time, {}, text_of(*state)});
            codec::append_event(log.back().event, event);
        });
        state = &life.state();
        for (int step = 0; step < kSteps; ++step) life.go_on();
    }
    base::Rng rng(seed);
    const auto open = [&]() -> base::Result<std::unique_ptr<ports::LogReader>> {
        return std::make_unique<Reader>(log);
    };
    api::FoldedLog folded(open, {.part = rng.between(1, 20),
                                 .snapshots = static_cast<std::size_t>(rng.between(1, 9))});
    for (int moment = 0; moment < kMoments; ++moment) {
        const Written& near = log[rng.index(log.size())];
        const model::TimePoint at =
            near.time + model::Duration{rng.chance(1, 2) ? 0 : rng.between(0, 600'000)};
        for (bool is_there = false; !is_there;) {
            const auto found = folded.fold_on(at);
            if (!found) return {found.error().message};
            is_there = *found;
        }
        const std::size_t last = last_by(log, at);
        if (text_of(folded.state()) == log[last].state) continue;
        return {"at " + std::to_string(base::to_ms(at)) + ", behind event " +
                std::to_string(last + 1) + ", it was\n" + log[last].state +
                "\nand is said to be\n" + text_of(folded.state())};
    }
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    return berth::proof::holds_for_seeds(argc, argv, findings) ? 0 : 1;
}
