// SPDX-License-Identifier: Apache-2.0
//
// When will this job start if nothing changes, and what change starts it sooner? One answer of two
// parts that cannot contradict each other: the estimate comes first (forecast.h), and a suggestion
// (suggestion.h) is made only where it starts the job before the earliest time of the estimate.
// Cost: that of both; so for one job that a user asks about.
#pragma once

#include <optional>

#include "model/answer/suggestion.h"
#include "model/answer/verdict.h"
#include "scheduling/explain/forecast.h"

namespace berth::scheduling {

struct Outlook {
    model::StartEstimate estimate;
    std::optional<model::Suggestion> suggestion;
};

// `verdict` is explain()'s on this very cluster, `spec` what the job was submitted with.
Outlook outlook(const cluster::Cluster& cluster, const model::Policy& policy, model::TimePoint now,
                const model::Verdict& verdict, const model::JobSpec& spec, const Work& work);

}  // namespace berth::scheduling
