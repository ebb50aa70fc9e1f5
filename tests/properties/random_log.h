// SPDX-License-Identifier: Apache-2.0
//
// A random life of a server, as the events of its log: jobs alike and not, wide, elastic, in parts
// of a GPU; decisions carried out when it happens to decide; pauses, parkings, resizes, attempts
// lost, cancellations while waiting; nodes that fail, and that others use; quotas and the order of
// jobs changed by people. The same seed gives the same events.
#pragma once

#include <functional>

#include "base/rng.h"
#include "lifecycle/apply.h"

namespace berth::proof {

// What decides by this state: the settings of people on top of the profile `berth`.
model::Policy policy_of(const lifecycle::State& state);

class RandomLog {
  public:
    // Gets each event after it was folded.
    using Listener = std::function<void(const model::Event&)>;

    RandomLog(std::uint64_t seed, Listener listener);

    // Something happens, now or later; it may be several events.
    void go_on();
    const lifecycle::State& state() const { return state_; }

  private:
    void set_up();
    void let_time_pass();
    void note(model::EventBody body);
    void decide();
    void submit();
    void set_quota();
    void set_job_order(model::Project& project);
    void set_order();
    void set_health();
    model::OthersUse use_of_others();
    void set_others();
    void something_of(const model::JobRecord& job);
    void set_size(const model::JobRecord& job);
    void set_request(const model::JobRecord& job);
    void something_of_running(const model::JobRecord& job);
    void end(const model::JobRecord& job, model::JobState state);

    base::Rng rng_;
    Listener listener_;
    lifecycle::State state_;
    model::TimePoint now_;
    std::int64_t longest_ms_;  // that nothing happens
    int projects_;
    int nodes_;
    int pools_;
    bool has_department_;  // that all projects are below
};

}  // namespace berth::proof
