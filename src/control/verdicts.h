// SPDX-License-Identifier: Apache-2.0
//
// Why do these jobs wait? Verdicts on demand, remembered until the next event, and for a second
// where time alone changes one, which is no event. Jobs of one class (job_class.h)
// share one explanation and differ in their position only, so that a list of ten thousand waiting
// jobs costs a handful of explanations.
#pragma once

#include <map>
#include <optional>

#include "lifecycle/apply.h"
#include "model/answer/verdict.h"
#include "model/policy/policy.h"
#include "scheduling/explain/verdict_class.h"

namespace berth::control {

class Verdicts {
  public:
    // None when the job is unknown, has ended, or holds its GPUs and waits for nothing.
    std::optional<model::Verdict> why(lifecycle::State& state, const model::Policy& policy,
                                      model::TimePoint now, model::JobId job);

  private:
    void renew(const lifecycle::State& state);

    std::int64_t sequence_ = -1;
    model::TimePoint known_until_ = model::TimePoint::max();
    std::map<scheduling::VerdictClass, model::Verdict> known_;
};

}  // namespace berth::control
