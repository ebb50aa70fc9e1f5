// SPDX-License-Identifier: Apache-2.0
//
// On which node is the next slot for a task made cheapest? Nodes stand in a heap by the least that
// a slot there may cost, and the price of the one on top is looked up when it gets there. Where the
// query knows the few nodes that can do, they stand there from the beginning. Else units are looked
// at, the cheapest for each of its GPUs first, and put up the nodes on which they stand, until a
// slot made of any others costs more than the best one: a search looks at little more than it
// takes. Of nodes in the heap that cost the same the first is taken. A slot that is taken frees its
// node for more and makes every other slot dearer or leaves it alone (the ledger only tightens), so
// a heap once made serves the next search on the same terms as well: only nodes where GPUs were
// freed since are offered again.
//
// Trusts: one order is used with one shape and one set of Terms. Cost: O(groups of units), or a
// glance at each node that is known to do, when it opens; then O(log nodes) and the price of a node
// (slot_cost.h) for each slot.
#pragma once

#include <span>
#include <vector>

#include "scheduling/victims/slot_cost.h"
#include "scheduling/victims/victim_query.h"

namespace berth::scheduling {

class CheapestNodes {
  public:
    // Prepares for this query.
    void reopen(const VictimQuery& query);
    // Forgets all offers: the next query is for other nodes, or in another decision.
    void close() { is_open_ = false; }
    // Buys a slot for each task of the beneficiary, or returns nothing. In the caller's Trial,
    // which the units have left afterwards.
    std::optional<Choice> take_cheapest(const VictimQuery& query);

  private:
    struct NodePrice {
        Cost cost;
        NodeId node;
        std::uint32_t version;

        bool operator<(const NodePrice& other) const;  // the cheapest is the heap's top
    };

    // Jobs of one group that were not looked at yet, by what a slot that takes the next of them
    // costs at least.
    struct Candidate {
        Cost least;
        ProjectId project;
        UnitPrices::Group left;

        bool operator<(const Candidate& other) const;  // the cheapest is the heap's top
    };

    void open(const VictimQuery& query);
    // Moves on to a job of which any may be taken; false when none is left.
    static bool settle(const VictimQuery& query, Candidate& candidate);
    // Puts up the nodes of the cheapest job that was not looked at yet.
    void look_at_next(const VictimQuery& query);
    // Those on which it stands: any other's slot costs as much as one that takes a job that was not
    // looked at, or more.
    void look_at(const VictimQuery& query, JobId job);
    void update_unlike_nodes(const VictimQuery& query);
    void update_once(const VictimQuery& query, NodeId node);
    void push(const NodePrice& update);
    // Whether a node that was not put up may be cheaper than all that were, or as cheap with fewer
    // jobs that leave.
    bool may_be_beaten() const;
    // The node on top, when it could be the cheapest one.
    std::optional<NodePrice> pop(const VictimQuery& query);
    // Puts a node up at the least its slot may cost; what was said of it before is void.
    void update(const VictimQuery& query, NodeId node);
    void accept(const VictimQuery& query, ReclaimLedger& ledger, NodeId node, const SlotCost& slot,
                Choice& choice);

    bool is_open_ = false;
    ReclaimLedger::Headrooms headrooms_;  // of the query it was last used in
    base::SmallVector<ProjectId, 128> projects_;  // likewise
    decltype(VictimQuery::takes_back) takes_back_;  // likewise
    int price_falls_ = 0;  // likewise, of all its projects
    std::uint64_t mark_ = 0;  // in the log of the nodes that changed
    std::vector<NodeId> to_offer_;  // whose slots the last query's ledger did not allow any more
    Places slots_;  // that it has taken
    std::vector<Candidate> candidates_;  // a heap
    std::vector<NodePrice> heap_;
    std::vector<std::uint32_t> versions_;  // by node: of the update that counts, 0 = none yet
};

}  // namespace berth::scheduling
