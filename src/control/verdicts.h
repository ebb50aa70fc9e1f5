// SPDX-License-Identifier: Apache-2.0
//
// Why do these jobs wait? Verdicts on demand, remembered until the next event, and for a second
// where one names the end of a minimum run, which is no event. Jobs that stand in the same line for
// the same thing share one explanation and differ in their position only, so that a list of ten
// thousand waiting jobs costs a handful of explanations.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lifecycle/apply.h"
#include "model/policy.h"
#include "model/verdict.h"

namespace berth::control {

class Verdicts {
  public:
    // None when the job is unknown, has ended, or holds its GPUs and waits for nothing.
    std::optional<model::Verdict> why(lifecycle::State& state, const model::Policy& policy,
                                      model::TimePoint now, model::JobId job);

  private:
    // What an explanation depends on besides the position.
    struct Likeness {
        base::ProjectId project;
        base::ShapeId shape;
        cluster::Precedence precedence;
        int tasks_min = 1;
        int tasks_max = 1;
        bool preemptible = true;
        bool may_run = true;
        bool is_parked = false;
        bool ran_before = false;
        base::NodeId kept_on = {};  // where its processes are
        int lacking = 1;

        auto operator<=>(const Likeness&) const = default;
    };

    void renew(const lifecycle::State& state);

    std::int64_t sequence_ = -1;
    model::TimePoint known_until_ = model::TimePoint::max();
    std::map<Likeness, model::Verdict> known_;
};

}  // namespace berth::control
