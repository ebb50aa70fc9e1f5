// SPDX-License-Identifier: Apache-2.0
//
// What was read of a cluster, for an answer? Objects as the scheduler keeps them, and beside each
// what people ask: the words of a pod's condition, how a Job ended, a Project's numbers. What could
// not be read is named, so that an answer says what is missing in it.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/objects/declared.h"
#include "kube/objects/workload.h"

namespace berth::kube::people {

struct ReadPod : objects::Pod {
    std::string reason;  // of the condition PodScheduled=False
    std::string message;  // of the same
    std::vector<std::string> gates;
    std::optional<base::TimePoint> ended;  // the last of its containers
};

struct ReadWorkload : objects::Workload {
    std::int64_t active = 0;  // pods of it that live, of any scheduler
    std::optional<base::TimePoint> ended;
    std::string ending;  // why it failed
};

// A project's in one pool, or in all of them; nothing where Berth has not said it yet.
struct Use {
    std::optional<base::MilliGpu> quota = {};
    std::optional<base::MilliGpu> fair_share = {};
    std::optional<base::MilliGpu> used = {};
    std::optional<base::MilliGpu> over = {};
    std::optional<std::int64_t> waiting = {};  // jobs
};

struct ReadProject : objects::DeclaredProject {
    Use use;
    std::map<std::string, Use> pools;
};

struct Read {
    objects::PodPools pools;  // before what has words of them
    std::deque<ReadPod> pods;
    std::deque<ReadWorkload> workloads;
    std::deque<objects::Meta> namespaces;
    std::deque<ReadProject> projects;
    std::set<std::string> pool_names;  // that are declared
    std::vector<std::string> unread;  // "Projects: User ... cannot list ..."
};

// The answer of the server to a list, or one object of it, added to what was read. The word with
// which the list goes on; empty: that was all. Errors: Unavailable, it cannot be read.
using AddTo = base::Result<std::string>(Read& read, std::string_view answer);
AddTo add_pods;
AddTo add_namespaces;
AddTo add_projects;
AddTo add_pools;
base::Result<std::string> add_workloads(Read& read, objects::WorkloadKind kind,
                                        std::string_view answer);

}  // namespace berth::kube::people
