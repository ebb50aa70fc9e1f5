// SPDX-License-Identifier: Apache-2.0
//
// Did the search for victims fail for a job like this one? Then it fails for this one too.
// Jobs of one project and shape that ranks alone tell apart ask the same question, and the later
// one may take no more. Where even all that may be taken left too few GPUs together (bounds.h), a
// larger job of the project need not ask at all.
// Trusts: nothing was freed since, but by backfill reservations that opened for one job alone;
// code that frees something calls forget(). Cost: O(log refusals), and those of the project.
#pragma once

#include <cstdint>
#include <map>
#include <memory_resource>
#include <utility>
#include <vector>

#include "scheduling/rights/victim_terms.h"

namespace berth::scheduling {

class Refusals {
  public:
    explicit Refusals(std::pmr::memory_resource* memory) : refused_(memory), too_few_(memory) {}

    // `opened`: the backfill reservations that its search may use, one bit each.
    bool covers(const PoolView& view, const Beneficiary& beneficiary, std::uint64_t opened) const;
    // `by_reach`: even all that may be taken would have left too few GPUs together.
    void add(const PoolView& view, const Beneficiary& beneficiary, std::uint64_t opened,
             bool by_reach);
    void forget();

  private:
    struct Question {
        model::Rule rule;
        ProjectId project;
        ShapeId shape;
        int tasks;
        model::JobKind kind;
        bool preemptible;
        std::uint64_t opened;

        auto operator<=>(const Question&) const = default;
    };
    struct TooFew {
        int gpus;  // of each task
        int tasks;
        MilliGpu amount;  // its companions' GPUs too
        cluster::PriorityKey priority_key;
        std::uint64_t opened;
    };
    using Asker = std::pair<model::Rule, ProjectId>;

    // Who may take of whom: the greater its priority key the more, and who came early may more than
    // who came late, where that counts.
    struct Reach {
        cluster::PriorityKey priority_key;
        std::optional<Came> later_than;
    };

    static Question question(const Beneficiary& beneficiary, std::uint64_t opened);

    std::pmr::map<Question, Reach> refused_;  // of the last one that was not covered
    std::pmr::map<Asker, std::pmr::vector<TooFew>> too_few_;
};

}  // namespace berth::scheduling
