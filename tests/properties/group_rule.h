// SPDX-License-Identifier: Apache-2.0
//
// Rule R13 for groups, by its text alone: all tasks of a group stand in one domain of its level.
// Every way to give domains to groups is tried. For judging decisions on small clusters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/cluster.h"

namespace berth::proof {

// The domain in which a node stands at a level; nothing where it names none.
using DomainOf =
    std::function<std::optional<std::string>(base::NodeId node, const std::string& level)>;

// The groups of a job by its own words; a job without any is one group of no level.
std::vector<model::TaskGroup> groups_of(const cluster::Cluster& cluster, const cluster::Job& job);
// The position of the group of a rank.
std::size_t group_of(const std::vector<model::TaskGroup>& groups, int rank);
// Running tasks of each group.
std::vector<int> running_in(const std::vector<model::TaskGroup>& groups, const cluster::Job& job);
// How many groups the job starts with: all, unless it says so.
int groups_needed(const cluster::Cluster& cluster, const cluster::Job& job);
// Whether it grows by whole groups.
bool grows_by_groups(const cluster::Cluster& cluster, const cluster::Job& job);
// Tasks of its next step: those below the minimum, group by group, or else one more, or those of
// one more group. Groups without tasks are needed only until there are enough of them.
int next_step(const cluster::Cluster& cluster, const cluster::Job& job);

// Whether the job goes on without the group's last task, or its last group where it gives those,
// when this many of each run.
bool can_spare(const cluster::Cluster& cluster, const cluster::Job& job,
               const std::vector<int>& running, std::size_t group);

// Whether the job's next tasks fit beside those that run, where each node takes this many: of every
// group what it lacks, or else one more of any group below its maximum, or one more group.
bool groups_fit(const cluster::Cluster& cluster, const cluster::Job& job,
                const std::map<base::NodeId, std::int64_t>& slots, const DomainOf& domain_of);

// What is wrong when these tasks are added: every group is whole, no larger than it may be, and in
// one domain of its level.
using AreTogether =
    std::function<bool(const std::string& level, const std::set<base::NodeId>& nodes)>;
std::vector<std::string> broken_groups(const cluster::Cluster& cluster, const cluster::Job& job,
                                       const std::vector<model::TaskPlacement>& more,
                                       const AreTogether& are_together);

}  // namespace berth::proof
