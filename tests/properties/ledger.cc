// SPDX-License-Identifier: Apache-2.0
//
// Does the ledger account for all GPU time, whatever happens, and does a restart change nothing?
//   ledger [--first SEED] [--seeds N]
// A random log (random_log.h) is read by the server that writes it, and by one that is restarted
// from the text of a snapshot at any event. After each event both have the same ledger, and it is
// as ledger_check.h counts. What jobs had while they lived sums to what their projects had.
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codec/log/event_log.h"
#include "ledger_check.h"
#include "random_log.h"
#include "seeds.h"

namespace {

using namespace berth;

constexpr int kSteps = 60;

std::string text_of(const lifecycle::State& state) {
    model::Snapshot snapshot;
    snapshot.ledger = state.ledger.book();
    std::string text;
    codec::append_snapshot(text, snapshot);
    return text;
}

void restart(lifecycle::State& state) {
    std::string text;
    codec::append_snapshot(text, lifecycle::snapshot(state));
    state = lifecycle::restore(*codec::parse_snapshot(text));
}

// Which uses occurred: a property of what never happens says nothing.
class Met {
  public:
    void add(const model::GpuTimes& times) { sum_ += times; }
    std::vector<std::string> missing() const {
        std::vector<std::string> none;
        for (const model::GpuUse use : model::kGpuUses) {
            if (sum_[use] == 0)
                none.emplace_back(model::kGpuUseNames[static_cast<std::size_t>(use)]);
        }
        return none;
    }

  private:
    model::GpuTimes sum_;
};

class Life {
  public:
    Life(std::uint64_t seed, Met& met)
        : rng_(seed + 1),
          met_(met),
          log_(seed, [this](const model::Event& event) { read(event); }) {}

    std::vector<std::string> live() {
        for (int step = 0; step < kSteps && found_.empty(); ++step) log_.go_on();
        check_jobs();
        return found_;
    }

  private:
    void read(const model::Event& event) {
        auto ended = lifecycle::apply(state_, event);
        if (ended) of_ended_ += ended->milli_gpu_ms;
        if (rng_.chance(1, 6)) restart(state_);
        if (!found_.empty()) return;
        found_ = check_.look(state_);
        if (!found_.empty()) found_.push_back("after event " + std::to_string(event.sequence));
        // The one that writes is behind its first event only once that was read.
        if (text_of(log_.state()) != text_of(state_)) {
            found_.push_back("who was restarted has another ledger");
        }
    }

    void check_jobs() {
        model::GpuTimes of_jobs = of_ended_;
        const model::LedgerBook book = state_.ledger.book();
        for (const model::JobTime& job : book.jobs) of_jobs += job.times;
        model::GpuTimes of_projects;
        model::GpuTimes all;
        for (const model::LedgerRow& row : book.rows) {
            all += row.times;
            if (!row.line.project.empty()) of_projects += row.times;
        }
        met_.add(all);
        if (of_jobs != of_projects) found_.push_back("jobs have had something else than projects");
    }

    base::Rng rng_;
    Met& met_;
    std::vector<std::string> found_;
    lifecycle::State state_;
    proof::LedgerCheck check_;
    model::GpuTimes of_ended_;
    proof::RandomLog log_;
};

}  // namespace

int main(int argc, char** argv) {
    Met met;
    std::uint64_t seeds = 0;
    bool holds = berth::proof::holds_for_seeds(argc, argv, [&](std::uint64_t seed) {
        ++seeds;
        return Life(seed, met).live();
    });
    constexpr std::uint64_t kSeedsThatMeetAll = 100;
    if (seeds < kSeedsThatMeetAll) return holds ? 0 : 1;
    for (const std::string& use : met.missing()) {
        std::cout << "no GPU was ever " << use << '\n';
        holds = false;
    }
    return holds ? 0 : 1;
}
