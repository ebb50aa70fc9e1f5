// SPDX-License-Identifier: Apache-2.0
//
// What is known of pools and projects: what is free, what each project holds and wants, and its
// right to it. Plain records, as nodes and jobs are; cluster.h keeps them consistent.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "cluster/jobs/losses.h"
#include "cluster/jobs/queue.h"
#include "cluster/nodes/free_index.h"
#include "model/project.h"

namespace berth::cluster {

inline constexpr ProjectId kRoot{0};

// CPU and host memory, in milli-cores and whole MiB, so that sums have room.
struct HostAsk {
    std::int64_t cpu = 0;
    std::int64_t mebibytes = 0;

    bool operator==(const HostAsk&) const = default;
    HostAsk operator*(std::int64_t factor) const { return {cpu * factor, mebibytes * factor}; }
    void operator+=(const HostAsk& other) {
        cpu += other.cpu;
        mebibytes += other.mebibytes;
    }
};

// Of a quota that is not stated: less than any.
inline constexpr std::int64_t kNotStated = -1;

// What a tree node holds and wants in one pool, its subtree included, as GPUs count there.
struct Usage {
    MilliGpu allocated{0};  // running or promised
    MilliGpu not_preemptible{0};  // the part of it that cannot be paused
    MilliGpu pending{0};  // wanted on top, by jobs that may run
    HostAsk host{};  // asked for by tasks that run or are promised a place
    HostAsk host_not_preemptible{};  // the part of it that cannot be paused

    bool operator==(const Usage&) const = default;
};

// One project in one pool.
struct Claim {
    model::Entitlement rights;
    MilliGpu quota{0};  // rights.quota, or the sum of the children's
    MilliGpu limit{0};  // rights.limit; of a fixed quota: at most the quota
    // Those of rights, or the sum of the children's.
    HostAsk host_quota{kNotStated, kNotStated};
    Usage usage;
    JobClasses queue;
    std::uint64_t queue_stamp = 0;  // another whenever a job class changes
    base::SortedRuns<VictimKey> victims;
    Losses losses;  // of the same jobs
    int cpu_only_victims = 0;  // of them: those that ask for no GPU
};

struct PoolState {
    std::string name;
    model::Labels labels;
    std::string spares;  // the pool that has them; empty = none
    bool strict_shares = false;  // model::Pool
    std::array<FreeIndex, 2> free;  // by View
    std::array<MilliGpu, 2> free_total{};  // by View, shared GPUs included
    DomainTree domains;
    int hosts_being_left = 0;  // counts of CPU and memory of its nodes of which some is
    MilliGpu capacity{0};  // of ready nodes
    // By GPU model, in thousandths: what one counts as in quotas, limits and fair shares.
    std::map<std::string, std::int64_t> exchange;
    std::vector<std::int32_t> weights;  // the same by node kind; empty where models count alike
    MilliGpu counted_capacity{0};  // of ready nodes, as GPUs count
    std::vector<std::int32_t> nodes_of_kind;  // how many, ready or not; shorter = none
    int gpus_per_node_max = 0;
    model::Node smallest_gpu;  // the least memory and the largest context of any; 0 = none said
    std::vector<Claim> claims;  // by project
    int cpu_only_victims = 0;  // of all claims
    bool has_fixed_quota = false;  // anybody's
    bool has_host_limit = false;  // of CPU or memory, any project
    bool has_host_quota = false;  // likewise

    model::Pool description() const { return {name, labels, exchange, spares, strict_shares}; }
    bool has_kind(std::size_t kind) const {
        return kind < nodes_of_kind.size() && nodes_of_kind[kind] > 0;
    }
    void count_kind(std::size_t kind) {
        if (nodes_of_kind.size() <= kind) nodes_of_kind.resize(kind + 1);
        ++nodes_of_kind[kind];
    }
    // What one GPU of the node counts as, in thousandths.
    std::int64_t weight_of(const NodeState& node) const {
        return weights.empty() ? 1000 : weights[node.kind];
    }
};

struct ProjectState {
    model::Project project;
    ProjectId parent;
    std::vector<ProjectId> children;  // oldest first
};

}  // namespace berth::cluster
