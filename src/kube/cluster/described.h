// SPDX-License-Identifier: Apache-2.0
//
// What does the server hold now, as the core writes a cluster down? A start and a failover begin
// with this: a running gang has its GPUs, a paused one leaves them, one that can start waits, for
// the GPUs it was promised if there are any.
//
// It never refuses what a real cluster shows. A gang whose pods are bound where they do not fit, or
// are in no project that is there, is none of the core's: its pods are strangers that take what
// they take.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "kube/cluster/gangs.h"
#include "kube/cluster/strangers.h"
#include "model/description.h"

namespace berth::kube::cluster {

// What a gang has by where it is: its project, and the pools in which its jobs may run; none: the
// default one.
struct ProjectPools {
    std::string name;  // empty: it is none
    std::vector<std::string> pools = {};
    // By a PodDisruptionBudget of then: it is not paused.
    std::optional<base::TimePoint> protected_since = {};
    base::MilliGpu quota = model::kUnlimited;  // in the first of them
};

// Whether it may be paused for others where nothing else forbids that.
bool may_be_paused(const Gang& gang);

// What a gang asks as a job of a project, with a task for each pod it has at once. Errors: Invalid,
// in words for its pods.
base::Result<model::JobSpec> job_of(const Gang& gang, const ProjectPools& project);

// How long its pods may take to end; at most a year.
base::Duration grace_of(const Gang& gang);

struct Described {
    std::vector<model::JobDescription> jobs;
    std::vector<Uid> gangs;  // of each of them
};

// `nodes` and `projects` as the core is to have them; `strangers` comes to know those of ours.
Described describe(const Gangs& gangs, const std::map<std::string, model::Node>& nodes,
                   const std::function<ProjectPools(const Gang&)>& project_of, Strangers& strangers,
                   base::TimePoint now);

}  // namespace berth::kube::cluster
