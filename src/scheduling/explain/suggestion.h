// SPDX-License-Identifier: Apache-2.0
//
// What is the cheapest change that would start this waiting job? Every candidate is tried: applied
// to a copy of the cluster and decided on. So what is returned does start the job, or gets it the
// reservation of its GPUs, when it happens to the cluster as it stands and nothing else does.
//
// Guarantees: sound. Numbers are minimal: one GPU less of a quota, limit or node, one job fewer, or
// one task or GPU more of the request does not do. Nothing is returned rather than a guess: when no
// single change of the list helps, more than kSuggestedJobsMax jobs would have to end, or the tries
// run out. Cost: at most as many decisions as `tries` allows, each on a copy of the cluster; so it
// is for one job that a user asks about, not for lists.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cluster/cluster.h"
#include "model/answer/suggestion.h"
#include "model/answer/verdict.h"
#include "model/policy/policy.h"

namespace berth::scheduling {

inline constexpr std::size_t kSuggestedJobsMax = 8;

// A number of decisions that takes a fraction of a second: fewer on a larger
// cluster.
int tries_for(const cluster::Cluster& cluster);

// `verdict` is explain()'s on this very cluster, `spec` what the job was submitted with. Nothing
// for a job that starts anyway or can never be helped.
std::optional<model::Suggestion> find_suggestion(const cluster::Cluster& cluster,
                                                 const model::Policy& policy, model::TimePoint now,
                                                 const model::Verdict& verdict,
                                                 const model::JobSpec& spec, int tries);

// The node that MoreGpus adds: idle, of the kind the job asks for, in the pool of that name.
model::Node added_node(const cluster::Cluster& cluster, const model::Suggestion& suggestion,
                       const cluster::Job& job);

// What the job is to ask for, by Apart, AskLess or AnyKind.
model::JobSpec changed_request(const model::Suggestion& suggestion, model::JobSpec spec);

// "the limit of lab is raised to 4 GPUs", to be put behind "would start if". `name_of` names a job.
std::string suggestion_text(const model::Suggestion& suggestion,
                            const std::function<std::string(model::JobId)>& name_of);

}  // namespace berth::scheduling
