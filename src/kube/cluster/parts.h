// SPDX-License-Identifier: Apache-2.0
//
// Which pods of a gang ask alike? Of those that ask for GPUs the most of a kind are the tasks of
// its job, all others are companions: a Ray cluster's head, a driver. A gang without GPUs has the
// most of a kind as tasks.
#pragma once

#include <string>
#include <vector>

#include "kube/cluster/gangs.h"
#include "model/job/job.h"

namespace berth::kube::cluster {

struct Part {
    std::string name;  // of companions, for people
    int pods = 0;  // at once
    model::JobSpec asks;  // of each
    std::vector<const objects::Pod*> there;  // not over; those that leave are not among `pods`
};

// The tasks first. Of a paused gang they are what its workload will make.
// Errors: Invalid, in words for its pods.
base::Result<std::vector<Part>> parts_of(const Gang& gang);

// Of a gang that runs as this job, its companions beside: how many of its tasks have a pod, placed
// or not, and how many will have one.
struct TasksNow {
    int there = 0;
    int wanted = 0;
};
TasksNow tasks_now(const Gang& gang, const model::JobSpec& job);

// Whether CPU and memory have to be the same. They may be changed of a pod that runs, nothing else.
enum class Sizes { Same, Any };

// Whether a task of this rank asks for what such a pod does. Admission may add tolerations to pods,
// which no template has.
bool asks_alike(const model::JobSpec& job, int rank, const model::JobSpec& pod,
                Sizes sizes = Sizes::Same);
// Whether any of its tasks or companions does.
bool is_part_of(const model::JobSpec& job, const model::JobSpec& pod);
// The same of all tasks and companions of two jobs.
bool ask_alike(const model::JobSpec& one, const model::JobSpec& other);

}  // namespace berth::kube::cluster
