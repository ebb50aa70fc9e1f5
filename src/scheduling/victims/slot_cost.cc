// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims/slot_cost.h"

#include <algorithm>
#include <bit>

namespace berth::scheduling {
namespace {

class SlotSearch {
  public:
    SlotSearch(const VictimQuery& query, ReclaimLedger& ledger, NodeId node)
        : query_(query),
          units_(query.units),
          is_chosen_(query.scratch.is_chosen),
          node_(node),
          need_(query.view, query.beneficiary.job.shape, node),
          ledger_(ledger),
          candidates_(query.scratch.candidates),
          reachable_(query.scratch.reachable),
          taken_(query.scratch.taken),
          best_(query.scratch.best) {}

    void run() {
        best_.is_possible = false;
        best_.cost = {};
        best_.units.clear();
        if (!is_allowed()) return;
        collect_candidates();
        if (!sum_up_reachable()) return;
        taken_.clear();
        descend(0, free_, {});
    }

  private:
    bool is_allowed() const {
        const PoolView& view = query_.view;
        const cluster::NodeState& state = view.cluster.nodes()[node_.index()];
        return state.is_ready && state.pool == view.pool &&
               view.cluster.allows(query_.beneficiary.job.shape, state.kind);
    }

    // A unit that the ledger forbids by itself is forbidden on top of others too.
    void collect_candidates() {
        candidates_.clear();
        for (const std::size_t unit : query_.units.on(node_)) {
            if (is_taken_before(unit) || !query_.may_take(unit, ledger_)) continue;
            candidates_.push_back({0, unit});
        }
    }

    // Room if everything from a candidate onwards left: what cannot be reached is cut off. Returns
    // whether all of it would do.
    bool sum_up_reachable() {
        need_.read(View::Coming, free_);
        FreeCapacity all;
        need_.copy(free_, all);
        for (const auto& candidate : candidates_) add_here(all, candidate.unit);
        if (!need_.fits(all)) return false;
        // Cheapest first; ties in the order of projects, then in victim order.
        for (auto& candidate : candidates_) {
            candidate.lost = query_.lost(candidate.unit);
            have_company_ |= units_.first_of_job(candidate.unit) != candidate.unit;
            int gpus = 0;
            for (const model::TaskPlacement& task : units_[candidate.unit].tasks) {
                if (task.node == node_) gpus += std::popcount(task.gpu_mask);
            }
            most_gpus_ = std::max(most_gpus_, gpus);
        }
        std::ranges::sort(candidates_, [&](const auto& left, const auto& right) {
            if (left.lost != right.lost) return left.lost < right.lost;
            return units_.comes_before(left.unit, right.unit);
        });
        reachable_.resize(candidates_.size() + 1);
        reachable_.back() = FreeCapacity{};
        for (std::size_t i = candidates_.size(); i-- > 0;) {
            need_.copy(reachable_[i + 1], reachable_[i]);
            add_here(reachable_[i], candidates_[i].unit);
        }
        return true;
    }

    bool is_taken_before(std::size_t unit) const {
        return unit < is_chosen_.size() && is_chosen_[unit];
    }

    void add_here(FreeCapacity& freed, std::size_t unit) const {
        const VictimUnit& victim = units_[unit];
        for (const model::TaskPlacement& task : victim.tasks) need_.give(freed, task, victim.job);
    }

    bool is_taken(std::size_t unit) const {
        return is_taken_before(unit) ||
               std::ranges::find(taken_, unit, &SlotScratch::Taken::unit) != taken_.end();
    }

    bool is_no_better(const Cost& cost) const { return best_.is_possible && cost >= best_.cost; }

    // Whether what is still missing costs too much, even if the next units did as well as any: one
    // that comes alone frees `most_gpus_` GPUs at most, and those after it are no cheaper.
    bool is_too_dear(std::size_t next, int missing, Cost cost) const {
        if (!best_.is_possible || have_company_) return false;
        for (; missing > 0 && next < candidates_.size(); missing -= most_gpus_, ++next) {
            cost.lost += candidates_[next].lost;
            ++cost.touched;
        }
        return is_no_better(cost);
    }

    void descend(std::size_t next, const FreeCapacity& freed, const Cost& cost) {
        if (is_no_better(cost)) return;
        if (need_.fits(freed)) {
            best_.is_possible = true;
            best_.cost = cost;
            best_.units.clear();
            for (const auto& taken : taken_) best_.units.push_back(taken.unit);
            return;
        }
        if (next == candidates_.size() || ++steps_ > kSlotSteps) return;
        if (is_too_dear(next, need_.gpus_missing(freed), cost)) return;
        if (!need_.fits(freed, &reachable_[next])) return;
        take_and_descend(next, freed, cost);
        descend(next + 1, freed, cost);
    }

    // Takes the unit and the units of the same job that must go first.
    void take_and_descend(std::size_t next, const FreeCapacity& freed, Cost cost) {
        const std::size_t unit = candidates_[next].unit;
        if (is_taken(unit)) {
            descend(next + 1, freed, cost);  // already taken along with a later unit
            return;
        }
        FreeCapacity more;
        need_.copy(freed, more);
        const std::size_t before = taken_.size();
        bool is_legal = true;
        for (std::size_t i = units_.first_of_job(unit); i <= unit && is_legal; ++i) {
            if (is_taken(i)) continue;
            const VictimUnit& victim = units_[i];
            is_legal = !query_.asks_ledger() || ledger_.may_take(victim.project, victim);
            if (!is_legal) break;
            MilliGpu largest_before{0};
            if (query_.asks_ledger()) largest_before = ledger_.take(victim.project, victim);
            taken_.push_back({i, largest_before});
            cost.lost += query_.lost(i);
            cost.stopped += victim.takes_whole_job ? 1 : 0;
            add_here(more, i);
        }
        ++cost.touched;
        if (is_legal) descend(next + 1, more, cost);
        for (; taken_.size() > before; taken_.pop_back()) {
            const VictimUnit& victim = units_[taken_.back().unit];
            if (!query_.asks_ledger()) continue;
            ledger_.give_back(victim.project, victim, taken_.back().largest_before);
        }
    }

    const VictimQuery& query_;
    const VictimUnits& units_;
    const std::vector<bool>& is_chosen_;
    NodeId node_;
    TaskNeed need_;
    ReclaimLedger& ledger_;  // as before after the search
    FreeCapacity free_;
    std::vector<SlotScratch::Candidate>& candidates_;
    std::vector<FreeCapacity>& reachable_;
    std::vector<SlotScratch::Taken>& taken_;
    SlotCost& best_;
    int most_gpus_ = 1;  // that one candidate frees here
    bool have_company_ = false;  // some candidates take others along
    int steps_ = 0;
};

}  // namespace

const SlotCost& cheapest_slot(const VictimQuery& query, ReclaimLedger& ledger, NodeId node) {
    SlotSearch(query, ledger, node).run();
    return query.scratch.best;
}

}  // namespace berth::scheduling
