// SPDX-License-Identifier: Apache-2.0
//
// What is known of waiting jobs beyond why they wait: what would start them and when they will
// start. Both take decisions on copies of the cluster: they are made on demand, on another thread,
// remembered until the next event, and bounded (scheduling/explain/suggestion.h, forecast.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "codec/api/json_api.h"
#include "control/controller.h"
#include "lifecycle/run_times.h"
#include "ports/background.h"
#include "ports/clock.h"
#include "ports/store.h"
#include "scheduling/explain/forecast.h"

namespace berth::api {

using ports::Background;

// An estimate is made anew after this, also when nothing has happened.
inline constexpr base::Duration kEstimateLasts{10 * 1000};
// Ended jobs that predict run times.
inline constexpr int kEndedLearnedFrom = 1000;

class ForesightDesk {
  public:
    using Views = std::vector<codec::JobView>;

    ForesightDesk(const control::Controller& controller, ports::Store& store,
                  const ports::Clock& clock, Background background)
        : controller_(controller),
          store_(store),
          clock_(clock),
          background_(std::move(background)) {}

    // Adds estimates to those that have a verdict: one forecast for all. `done` is called at once
    // or later, with what could be found out.
    void estimate(Views jobs, std::function<void(Views)> done);
    // Of one job, more precisely, and its suggestion.
    void complete(codec::JobView job, std::function<void(codec::JobView)> done);

    // How long it still runs, as far as is known. Costs a look at the ended jobs now and then.
    model::RunTime run_time(const model::JobRecord& job);

  private:
    struct Question;
    struct Known {
        std::optional<model::Suggestion> suggestion;
        model::StartEstimate estimate;
        bool is_bound_true = true;  // of its wait
    };

    void renew(model::TimePoint now);
    std::shared_ptr<Question> question(model::TimePoint now) const;
    void add_known(codec::JobView& job) const;

    const control::Controller& controller_;
    ports::Store& store_;
    const ports::Clock& clock_;
    Background background_;
    std::int64_t sequence_ = -1;
    model::TimePoint made_;
    lifecycle::RunTimes run_times_;
    std::map<model::JobId, Known> known_;
    std::map<model::JobId, model::StartEstimate> listed_;  // less precise, for lists
};

}  // namespace berth::api
