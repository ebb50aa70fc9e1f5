// SPDX-License-Identifier: Apache-2.0
#include "scenario/answers.h"

#include "scenario/render.h"
#include "scheduling/explain/explain.h"
#include "scheduling/explain/order_account.h"
#include "scheduling/shares/share_account.h"

namespace berth::scenario {

std::vector<std::string> sum_lines(const lifecycle::State& state, const model::Verdict& verdict) {
    const std::string sum = scheduling::arithmetic_text(verdict);
    if (sum.empty()) return {"nothing"};
    return {name_of(state, verdict.job) + " " + sum};
}

std::vector<std::string> order_lines(lifecycle::State& state, const model::Policy& policy,
                                     model::TimePoint now, model::JobId job) {
    cluster::keep_ranks(state.cluster, policy.order, now);
    const auto account = scheduling::order_account(state.cluster, policy, now, state.jobs.at(job));
    return render(state, job, account, now);
}

base::Result<std::vector<std::string>> account_lines(const lifecycle::State& state,
                                                     const model::Policy& policy,
                                                     model::TimePoint now, const Command& command) {
    const std::string project = command.names.empty() ? "" : command.names[0];
    const auto id = state.cluster.find_project(project);
    if (!id.is_valid()) return base::invalid("there is no project \"" + project + "\"");
    const std::string pool = command.names.size() > 1 ? command.names[1] : model::kDefaultPool;
    const auto pool_id = state.cluster.find_pool(pool);
    if (!pool_id.is_valid()) return base::invalid("there is no pool \"" + pool + "\"");
    return render(scheduling::account_of(state.cluster, policy, now, pool_id, id));
}

}  // namespace berth::scenario
