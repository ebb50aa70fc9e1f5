// SPDX-License-Identifier: Apache-2.0
//
// Was a search for victims in other projects in vain before, and has nothing changed since that
// could help? At rest the same questions are asked with each event, and a search that looks at
// every node costs much more than a look at the few nodes that changed.
//
// Guarantees: yes means that the search would find nothing now. It holds while no project may lose
// more than then, no protection ended, and no node changed so that it could have a slot. Trusts:
// only searches are added whose end does not hang on the order in which slots are cheap. Cost: the
// nodes that changed since the last question of the kind.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "scheduling/node_work.h"
#include "scheduling/victim_query.h"

namespace berth::scheduling {

class VainSearches {
  public:
    bool covers(const VictimQuery& query, NodeWork& work);
    // `until`: when the first protection ends that binds the search.
    void add(const VictimQuery& query, std::optional<TimePoint> until);
    void forget() { known_.clear(); }

  private:
    // The project, its right, and all that placing reads of the job.
    using Question = std::tuple<ProjectId, bool, ShapeId, int, model::JobKind, bool>;
    struct Known {
        std::vector<ProjectId> projects;  // that may lose something, ascending
        std::vector<MilliGpu> headrooms;  // of the ledger
        std::optional<TimePoint> until;
        std::uint64_t mark = 0;  // in the log of nodes whose work changed
    };

    static std::optional<Question> question(const VictimQuery& query);

    std::map<Question, Known> known_;
};

}  // namespace berth::scheduling
