// SPDX-License-Identifier: Apache-2.0
//
// How does a started job become an order to a launcher? Places become node names, ranks on the
// node and GPU indices. Trusts: the record has tasks, placed on nodes of the cluster.
#pragma once

#include "cluster/cluster.h"
#include "lifecycle/apply.h"
#include "model/record.h"
#include "ports/launcher.h"

namespace berth::control {

// By which a job's request and its place become what it is held to.
struct Terms {
    const cluster::Cluster& cluster;
    const model::Policy& policy;
};

// `known`: what jobs like it were measured to take; may be null.
ports::LaunchOrder launch_order(const Terms& terms, const model::JobRecord& record,
                                model::LaunchSpec spec, const model::GpuProfile* known = nullptr);

// Its tasks by rank, where they are.
std::vector<ports::TaskLaunch> task_launches(const Terms& terms, const model::JobRecord& record);

// Whether the event may change what a share is at most, and the jobs that have one.
bool may_change_caps(const model::EventBody& event);
std::vector<model::JobId> sharing_jobs(const lifecycle::State& state);

// The GPUs of a mask, lowest first.
std::vector<int> gpu_indices(std::uint64_t mask);

// The attempts that may have processes.
std::vector<ports::BegunAttempt> begun_attempts(const lifecycle::State& state,
                                                const model::Policy& policy);

}  // namespace berth::control
