// SPDX-License-Identifier: Apache-2.0
//
// In which domain does each group of a gang stand? Rule R13 for groups: all its tasks in one domain
// of the level it asks, beside those that run. Groups of the innermost level choose first, of these
// the largest, each the fullest domain with room for it. Where that leaves one without room, every
// other way is tried, so that one is found whenever there is one: alike groups in one order only,
// of domains with equal room inside one outer domain only the first.
//
// Tasks of a job ask the same, so how many of them each node takes is all that counts here.
// Ties go to the path that comes first, then to the node declared first.
// Cost: one look at each node, then one at each domain of a level for each group, as a rule. Past
// kGroupLooks looks at domains the search gives up and says so.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "cluster/gang.h"
#include "scheduling/rights/pool_view.h"

namespace berth::scheduling {

using cluster::Region;

inline constexpr std::int64_t kGroupLooks = 200'000;

// These tasks stand in one place.
struct Stand {
    Region region;
    cluster::Ranks ranks;
};

// Which group has no room, and how much there is in the best domain that is left for it.
struct GroupShortage {
    std::size_t group = 0;  // position among the shape's
    int tasks = 0;  // to be placed
    int fitting = 0;
    Region region = {DomainId{}, {}};  // the best; nowhere when there is none
    bool is_proved = true;  // else the search gave up

    int missing() const { return tasks - fitting; }
};

class GroupRoom {
  public:
    // `tasks_on` says how many tasks of the job a node of the region takes.
    GroupRoom(const PoolView& view, const cluster::Job& job, const Region& bound_to,
              const std::function<int(NodeId)>& tasks_on);

    // Where `tasks` of these ranks stand, in the order in which they have to be placed: the
    // innermost level first. All of them when there are not more; else the first that fit beside
    // what runs of their groups. Nothing when fewer fit.
    std::optional<std::vector<Stand>> find(const cluster::Ranks& ranks, int tasks);
    // As many of them, at most, as the first way to choose finds room for.
    std::vector<Stand> find_some(const cluster::Ranks& ranks, int tasks);
    // After a find in vain.
    const GroupShortage& shortage() const { return shortage_; }

  private:
    // A domain or node that a group may have to itself, or the whole region.
    struct DomainCandidate {
        Region region;
        Region part;  // the part of it in the region looked at
        std::size_t outer = 0;  // position of the candidate it lies in; of the first, itself
        std::int64_t left = 0;  // tasks that fit into it, those in candidates inside it counted off
    };
    struct Need {
        std::size_t group = 0;
        int level = -1;
        cluster::Ranks ranks;
        std::optional<std::size_t> fixed;  // the only candidate for it
        std::size_t candidate = 0;
        int placed = 0;  // of the ranks

        int tasks() const { return static_cast<int>(ranks.size()); }
        bool is_like(const Need& other) const {
            return level == other.level && tasks() == other.tasks() && !fixed && !other.fixed;
        }
    };

    void add(NodeId node, int tasks);
    // The candidate at the level, made when it is new.
    std::size_t candidate_at(const Region& region, std::size_t level, std::size_t outer);
    std::int64_t room_in(std::size_t candidate) const;
    void take(std::size_t at, std::int64_t tasks);
    // Where there are more ranks than tasks: the first that fit one by one.
    cluster::Ranks pick(const cluster::Ranks& ranks, int tasks);
    void read_needs(const cluster::Ranks& ranks);
    // The only candidate where tasks of the group may stand; kNoCandidate when there is none,
    // nothing when it may choose.
    std::optional<std::size_t> home_of(const cluster::Group& group) const;
    const std::vector<std::size_t>& candidates_at(int level) const;
    bool choose_greedily();
    void note_shortage(std::size_t group, int tasks, std::size_t candidate);
    bool choose(std::size_t at);
    std::vector<std::size_t> candidates(std::size_t at);
    std::vector<Stand> placements() const;

    const PoolView& view_;
    const cluster::Job& job_;
    const cluster::Shape& shape_;
    int level_;  // of the region looked at; -1 = the whole pool
    std::vector<int> levels_;  // that its groups ask, the outermost first
    std::vector<DomainCandidate> candidates_;  // the first is the whole region
    std::vector<std::vector<std::size_t>> by_level_;  // positions of candidates, as levels_
    std::vector<Need> needs_;
    std::int64_t looks_ = 0;
    GroupShortage shortage_;
};

}  // namespace berth::scheduling
