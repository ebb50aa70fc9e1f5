// SPDX-License-Identifier: Apache-2.0
//
// What does a pod ask of the core? Its requests, where it may run, its priority; or, in words,
// which field Berth does not do: such a pod waits with that reason and is not placed.
//
// A pod that requests no CPU or memory takes none, as for kube-scheduler. Without a PriorityClass a
// pod has the priority of its kind of work.
#pragma once

#include "base/result.h"
#include "kube/objects/pod.h"
#include "model/job/job.h"

namespace berth::kube::cluster {

// All that is the same for each pod of a template; name, project, kind and number of tasks are the
// gang's. Errors: Invalid, naming the field.
base::Result<model::JobSpec> spec_of(const objects::PodAsk& ask);

// The CPU and memory that a pod holds beside what was asked for it, as it was resized where it
// runs; below 0 where it holds less.
objects::Amounts beside(const objects::Amounts& held, const model::TaskRequest& asked);

}  // namespace berth::kube::cluster
