// SPDX-License-Identifier: Apache-2.0
//
// What is a gang to people? Its state, GPUs and moments in the words of a job on one machine, so
// that ls and why of a cluster say what ls and why say elsewhere, and both the same.
//
// Why it waits is what its first pod's condition says; where that says nothing, what can be seen:
// pods that are not there, gates, a suspension by its user.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codec/api/json_api.h"
#include "kube/cluster/gangs.h"
#include "kube/cluster/projects.h"
#include "kube/objects/receipts.h"
#include "kube/people/read.h"

namespace berth::kube::people {

struct Work {
    codec::JobView job;  // `why` has the words; job.spec.project: empty where it is in none
    std::string name_space;
    std::string name;    // job/train
    std::string reason;  // of the condition; empty where no condition says it
    std::map<std::string, int> nodes;  // how many of its pods each has
    int pods_there = 0;
    int pods_bound = 0;
    std::optional<objects::Receipt> receipt;  // of the last pause, in force or not
    std::optional<objects::History> history;
    std::string not_ours;  // which scheduler has it, and why; empty: Berth
};

// Its GPUs, those of companions with the others; and how many pods these are.
std::int64_t gpus_of(const Work& work);
int pods_of_request(const Work& work);

// Of everything that was read, in the order of their creation; what is not Berth's is left out
// unless `uid` names it alone.
std::vector<Work> all_work(const Read& read, base::TimePoint now);
std::optional<Work> work_of(const Read& read, objects::Uid uid, base::TimePoint now);

}  // namespace berth::kube::people
