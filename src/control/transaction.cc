// SPDX-License-Identifier: Apache-2.0
#include "control/transaction.h"

#include <algorithm>

#include "base/check.h"

namespace berth::control {

const model::JobRecord* Transaction::find(model::JobId job) const { return state_.jobs.get(job); }

base::Status Transaction::record(model::EventBody body, std::string_view actor) {
    if (!use_.is_empty()) write_use(loses_gpus(body));
    return apply(std::move(body), actor);
}

void Transaction::add_use(const model::JobRecord& job, const UseSeen& seen) {
    if (use_.add(seen, now_ - job.last_start.value_or(now_))) write_use(job.id);
}

void Transaction::write_use(model::JobId job) {
    const model::JobRecord* const known = find(job);
    if (known == nullptr || known->tasks.empty()) return;
    if (auto used = use_.take({job, known->attempts})) note(*used, kMachine);
}

base::Status Transaction::apply(model::EventBody body, std::string_view actor) {
    batch_.events.push_back({state_.sequence + 1, now_, std::string(actor), std::move(body)});
    auto ended = lifecycle::try_apply(state_, batch_.events.back());
    if (!ended) {
        batch_.events.pop_back();
        return tl::unexpected(std::move(ended.error()));
    }
    if (const auto named = model::key_of(batch_.events.back().body); !named.key.empty()) {
        keys_.emplace(named.key, named.job);
    }
    if (*ended) batch_.finished.push_back(std::move(**ended));
    return {};
}

void Transaction::note(model::EventBody body, std::string_view actor) {
    const base::Status possible = record(std::move(body), actor);
    BERTH_CHECK(possible.has_value(), "the loop records only what is possible");
}

void Transaction::keep_launch(model::JobId job, model::LaunchSpec launch) {
    batch_.launches.emplace_back(job, std::move(launch));
}

model::JobId Transaction::job_with_key(const std::string& key) const {
    const auto found = keys_.find(key);
    return found == keys_.end() ? model::JobId{} : found->second;
}

const model::LaunchSpec* Transaction::launch_of(model::JobId job) const {
    // Ids were given in rising order.
    const auto found = std::ranges::lower_bound(batch_.launches, job, {},
                                                &std::pair<model::JobId, model::LaunchSpec>::first);
    if (found == batch_.launches.end() || found->first != job) return nullptr;
    return &found->second;
}

}  // namespace berth::control
