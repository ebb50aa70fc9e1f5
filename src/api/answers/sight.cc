// SPDX-License-Identifier: Apache-2.0
#include "api/answers/sight.h"

#include <algorithm>

#include "scheduling/explain/order_account.h"

namespace berth::api {

const lifecycle::State& Sight::state() const {
    return moment_ ? moment_->state : site_->controller.state();
}

const model::Policy& Sight::policy() const {
    return moment_ ? moment_->policy : site_->controller.policy();
}

model::TimePoint Sight::now() const {
    return std::max(moment_ ? moment_->now : site_->clock.now(), state().time);
}

std::optional<model::Verdict> Sight::why(model::JobId job) const {
    if (!moment_) return site_->controller.why(job);
    return moment_->verdicts.why(moment_->state, moment_->policy, moment_->now, job);
}

std::optional<model::OrderAccount> Sight::order_account(model::JobId job) const {
    if (!moment_) return site_->controller.order_account(job);
    const auto record = moment_->state.jobs.find(job);
    if (record == moment_->state.jobs.end()) return {};
    return scheduling::order_account(moment_->state.cluster, moment_->policy, moment_->now,
                                     (*record).second);
}

base::Result<model::JobRecord> Sight::record_of(model::JobId job) const {
    const auto& live = state().jobs;
    if (const auto found = live.find(job); found != live.end()) return found->second;
    if (job <= state().last_job) {
        auto ended = site_->store.finished_job(job);
        if (ended || ended.error().code != base::ErrorCode::NotFound) return ended;
    }
    const bool came_later = moment_ && job <= site_->controller.state().last_job;
    return base::fail(base::ErrorCode::NotFound,
                      "job " + std::to_string(job.value) +
                          (came_later ? " was not there yet" : " does not exist"));
}

}  // namespace berth::api
