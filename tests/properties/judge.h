// SPDX-License-Identifier: Apache-2.0
//
// Rules R4 (gates and room), R6, R7 and R8's pieces, written from their text alone: may this job
// be given so much, does it fit, whose work may be paused for it, and which sets of pieces are
// legal, help, and cost least? Everything is summed anew from the jobs; sets of victims are found
// by trying them all. For judging decisions on small clusters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "judge_room.h"
#include "model/plan.h"
#include "model/policy/policy.h"
#include "rule_shares.h"

namespace berth::proof {

using base::JobId;
using base::ProjectId;

// What the driver leaves of the memory of a GPU.
std::int64_t given_memory(const model::Node& node);
// What a task of the request takes of each of its GPUs on the node; nothing when one is too small.
std::optional<Part> rule_part(const model::TaskRequest& request, const model::Node& node);
// The least share of a GPU with so much memory that is no less than the part in either. Found by
// trying.
std::int64_t least_share(const Part& part, std::int64_t given);

// What a job needs for its next step: its gang, or one more task.
struct Want {
    const cluster::Job* job = nullptr;
    int tasks = 0;
    std::int64_t amount = 0;  // milli-GPUs as counted in its project
    model::Rule rule = model::Rule::Reclaim;
};

// What can be paused at once: a surplus task, or the core of a gang.
struct JudgedPiece {
    JobId job;
    ProjectId project;
    cluster::PriorityKey priority_key;
    std::vector<model::TaskPlacement> tasks;
    std::int64_t gpus = 0;  // milli
    std::int64_t cost = 0;  // lost work if it does not save, milliseconds of one GPU
    std::int64_t expected_cost = 0;
    bool is_core = false;
    bool is_last = false;  // nothing of the job runs on
    bool is_kept = false;  // its own project may not pause it now: it starts as promised
};

struct Price {
    std::int64_t cost = 0;
    int stopped = 0;  // jobs that lose all they run
    int jobs = 0;

    auto operator<=>(const Price&) const = default;
};
std::string text_of(const Price& price);

class Judge {
  public:
    // `cluster` is read whenever a question is asked. `fresh` are jobs that the decision in
    // question starts itself: they have nothing to lose. `started_reserved` it starts as was
    // promised before: their minimum run begins.
    Judge(const cluster::Cluster& cluster, const model::Policy& policy, model::TimePoint now,
          base::PoolId pool, RuleShares shares, const std::set<JobId>& fresh,
          const std::set<JobId>& started_reserved);

    Want want(const cluster::Job& job, model::Rule rule) const;
    Room room(cluster::View view) const;
    // What is there for whom no fixed quota shelters.
    std::int64_t room_of_pool(const Room& room) const;
    std::int64_t named(const cluster::Job& job, Host host) const;  // of each task
    // Limits, and quotas for work that cannot be paused.
    bool is_within_host_bounds(const Room& room, const Want& want) const;
    // One beyond which a project gained.
    std::optional<std::string> broken_host_bound(const Room& then, const Room& now) const;
    bool passes_gates(const Room& room, const Want& want) const;
    // In one domain of the required level, if the job has one, beside its running tasks.
    bool fits(const Room& room, const Want& want) const;
    // The same in one domain of any level; "" = anywhere.
    bool fits_at(const std::string& level, const Room& room, const Want& want) const;
    // The level at which the job's tasks are kept together where there is room; "" = none.
    std::string preferred_by(const cluster::Job& job) const;
    // Whether all these nodes lie in one domain of the level (R13).
    bool are_together(const std::string& level, const std::set<base::NodeId>& nodes) const;
    // Within the quota on every level.
    bool is_owner(const Room& room, const Want& want) const;
    // Whether rule R12 still keeps anybody from being paused for it.
    bool is_delayed(const Want& want) const;
    // Whether the day's waste budget, less what the decision has planned, keeps it from being
    // paused for, as no owner.
    bool is_out_of_budget(const Room& room, const Want& want, std::int64_t planned) const;
    // R6's entry; R7 has none.
    bool may_ask(const Room& room, const Want& want) const;

    // Within the minimum run since its last start that `by` has to respect.
    bool is_young(const cluster::Job& job, model::Rule rule, ProjectId by,
                  bool only_stated = false) const;
    // Between jobs that ranks tell apart: the last goes first, whatever it costs, and the policy's
    // own minimum run does not count.
    bool goes_by_rank(const Want& want) const;

    // The pieces that may be paused for it, those of one job together, in the order in which they
    // have to go.
    std::vector<JudgedPiece> pieces(const Want& want) const;
    // Why these pieces may not be paused together, or nothing.
    std::optional<std::string> objection(const Room& before, const Want& want,
                                         const std::vector<JudgedPiece>& taken) const;
    // Whether the job could start if exactly these were paused.
    bool helps(const Room& before, const Want& want, const std::vector<JudgedPiece>& taken) const;
    // By project: the work that it destroys by taking back what it loses to this one from a side
    // above its allocatable share; no entry when it would not.
    using Comebacks = std::map<ProjectId, std::int64_t>;
    Comebacks comebacks(const Room& before, const Want& want) const;
    Price price(const std::vector<JudgedPiece>& taken, const std::vector<JudgedPiece>& all,
                const Comebacks& comebacks) const;

    // The cheapest set that is legal, helps and takes nothing from the spared jobs, among all; only
    // for few pieces.
    std::optional<Price> cheapest(const Room& before, const Want& want,
                                  const std::set<JobId>& spared) const;

    const RuleShares& shares() const { return shares_; }

  private:
    // The path of the domain in which the node stands; nothing where it names none.
    std::optional<std::string> domain_of(base::NodeId node, const std::string& level) const;
    std::vector<ProjectId> path(ProjectId project) const;  // upwards, without the root
    void credit(Room& room, const cluster::Job& job, const model::TaskPlacement& task) const;
    // The quota of CPU or memory, or the sum of those below.
    std::optional<std::int64_t> host_quota(ProjectId project, Host host) const;
    // Of a job without GPUs, beside the first `levels` tree nodes of its path.
    bool has_host_right(const Room& room, const Want& want, std::size_t levels) const;
    // Why these pieces without GPUs may not be paused together, or nothing.
    std::optional<std::string> host_objection(const Room& before, const Want& want,
                                              const std::vector<JudgedPiece>& taken) const;
    std::int64_t set_aside_below(const Room& room, ProjectId roof) const;
    std::int64_t fitting_on(const Room::Node& node, const Want& want, base::NodeId id) const;
    // The least that pausing one of the pieces of the project destroys, with what its job destroys
    // of its own project by coming back.
    std::optional<std::int64_t> least_lost(const std::vector<JudgedPiece>& pieces,
                                           ProjectId project) const;
    std::int64_t cheapest_below(const std::vector<JudgedPiece>& all,
                                const JudgedPiece& piece) const;
    bool is_protected(const Want& want, const cluster::Job& victim) const;
    // Whether minimum runs bind who wants this.
    bool is_bound(const Want& want) const;
    std::int64_t gpus_of(const model::TaskPlacement& task) const;
    // As GPUs count in quotas and shares.
    std::int64_t counted(const model::TaskPlacement& task) const;
    std::int64_t counts_at_most(const cluster::Job& job) const;  // one task of it

    const cluster::Cluster& cluster_;
    const model::Policy& policy_;
    model::TimePoint now_;
    base::PoolId pool_;
    RuleShares shares_;
    const std::set<JobId>& fresh_;
    const std::set<JobId>& started_reserved_;
    std::vector<std::int64_t> given_;  // memory of a GPU, by node
};

// Calls visit(taken) for every set of pieces in which no core goes before its surplus, the empty
// one left out, until visit returns true. Returns whether it did.
template <typename Visit>
bool any_set(const std::vector<JudgedPiece>& pieces, Visit&& visit) {
    for (std::uint32_t subset = 1; subset < 1U << pieces.size(); ++subset) {
        std::vector<JudgedPiece> taken;
        bool is_closed = true;
        for (std::size_t i = 0; i < pieces.size() && is_closed; ++i) {
            if ((subset >> i & 1) == 0) continue;
            const bool follows = i > 0 && pieces[i - 1].job == pieces[i].job;
            is_closed = !follows || (subset >> (i - 1) & 1) != 0;
            taken.push_back(pieces[i]);
        }
        if (is_closed && visit(taken)) return true;
    }
    return false;
}

// What this job finds when the plan keeps GPUs for others.
Room without_kept(Room room, const model::Plan& plan, JobId job);

}  // namespace berth::proof
