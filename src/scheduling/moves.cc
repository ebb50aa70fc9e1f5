// SPDX-License-Identifier: Apache-2.0
#include "scheduling/moves.h"

#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <tuple>

#include "scheduling/minimum_run.h"
#include "scheduling/pieces.h"
#include "scheduling/place.h"
#include "scheduling/quota_gate.h"

namespace berth::scheduling {
namespace {

using cluster::Job;
using model::Move;
using model::TaskPlacement;

using Places = std::vector<TaskPlacement>;
// Positions among the movers, ascending.
using Set = std::vector<std::size_t>;

constexpr std::size_t kSetsTried = 64;

// A node on which the waiting job's next task would fit if these left.
struct Clearing {
    std::int64_t price = 0;
    Set movers;

    auto operator<=>(const Clearing&) const = default;
};

bool is_at_same_places(const Job& job, const Places& places) {
    return std::ranges::all_of(job.placed, [&](const cluster::PlacedTask& old) {
        return std::ranges::any_of(places, [&](const TaskPlacement& task) {
            return task.node == old.place.node && task.gpu_mask == old.place.gpu_mask;
        });
    });
}

using Bill = Rearrangements::Bill;
using Refusal = Rearrangements::Refusal;

// What the job has lost by waiting.
std::int64_t lost_so_far(const PoolView& view, const Job& job) {
    return gpus_for(view, job, job.ask()).value *
           std::max<std::int64_t>((view.now - job.waiting_since).count(), 0) / 1000;
}

bool is_too_dear(const PoolView& view, const Job& job, std::int64_t price) {
    return view.policy.priced_moves && price > lost_so_far(view, job);
}

// When it is worth looking again. What is missing to a price shrinks as the job waits and grows
// with what the movers do not save.
std::optional<TimePoint> worth_at(const PoolView& view, const Job& job, const Refusal& refusal) {
    std::optional<TimePoint> first = refusal.protected_until;
    for (const Bill& bill : refusal.too_dear) {
        const std::int64_t missing = bill.price - lost_so_far(view, job);
        const std::int64_t pace = (gpus_for(view, job, job.ask()) - bill.gpus).value;  // milli-GPU
        if (pace <= 0) continue;
        const TimePoint time = view.now + model::Duration{missing * 1000 / pace + 1};
        first = std::min(first.value_or(time), time);
    }
    return first;
}

class Search {
  public:
    using Known = std::map<JobId, Rearrangements::Candidate>;

    Search(const PoolView& view, const Job& job, const std::function<bool(const Job&)>& may_move,
           Known& known)
        : view_(view), job_(job), may_move_(may_move), known_(known) {}

    void run() {
        find_movers();
        if (!is_any_worth_it()) return;
        if (movers_.size() <= kExactMovers) {
            try_all_sets();
        } else {
            try_cheapest_nodes();
        }
    }
    Refusal take_refusal() { return std::move(refusal_); }
    Rearrangement take_result() { return std::move(result_); }

  private:
    // Nodes where room could be made, those with the most idle GPUs first.
    std::vector<NodeId> nodes_to_try() const {
        const auto& pool = view_.cluster.pool(view_.pool);
        const auto& free = pool.free[static_cast<std::size_t>(View::Coming)];
        const model::TaskRequest& request = view_.cluster.shape(job_.shape).request;
        std::vector<NodeId> nodes;
        const auto add = [&](NodeId node) {
            const auto& state = view_.cluster.nodes()[node.index()];
            const bool is_new =
                nodes.size() < kNodesTried && std::ranges::find(nodes, node) == nodes.end();
            if (is_new && view_.cluster.allows(job_.shape, state.kind)) nodes.push_back(node);
        };
        for (int count = pool.gpus_per_node_max; count >= 0; --count) {
            if (count == 0 && !request.is_whole()) {
                for (auto gpu = free.partial().rbegin(); gpu != free.partial().rend(); ++gpu) {
                    if (nodes.size() == kNodesTried) break;
                    add(gpu->node);
                }
            }
            const cluster::NodeSet& with = free.nodes_with(count);
            for (NodeId node = with.next({0}); node.is_valid() && nodes.size() < kNodesTried;
                 node = with.next({node.value + 1})) {
                add(node);
            }
        }
        return nodes;
    }

    void find_movers() {
        nodes_ = nodes_to_try();
        on_node_.resize(nodes_.size());
        std::vector<JobId> here;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            // By id: whose tasks came first to the node does not count.
            const auto jobs = view_.cluster.jobs_on(nodes_[i]);
            here.assign(jobs.begin(), jobs.end());
            std::ranges::sort(here);
            here.erase(std::ranges::unique(here).begin(), here.end());
            for (const JobId id : here) {
                const auto mover = mover_of(id);
                if (mover) on_node_[i].push_back(*mover);
            }
        }
    }

    std::optional<std::size_t> mover_of(JobId id) {
        const auto known = known_.find(id);
        const auto& candidate =
            known != known_.end() ? known->second : known_.emplace(id, look_at(id)).first->second;
        if (candidate.protected_until) {
            auto& first = refusal_.protected_until;
            first =
                std::min(first.value_or(*candidate.protected_until), *candidate.protected_until);
        }
        if (!candidate.mover) return {};
        const Mover& mover = *candidate.mover;
        // A job of one task was not met on another node.
        const auto at = mover.ranks.size() > 1 ? std::ranges::find(movers_, &mover) : movers_.end();
        const auto position = static_cast<std::size_t>(at - movers_.begin());
        if (at == movers_.end()) movers_.push_back(&mover);
        return position;
    }

    Rearrangements::Candidate look_at(JobId id) const {
        const Job& job = view_.cluster.job(id);
        const bool is_free_to_move =
            job.is_victim() && job.may_run && !job.hold && !job.is_releasing() && may_move_(job);
        if (!is_free_to_move) return {};
        const TimePoint until = protected_until(view_, job, model::Rule::Preempt, job.project);
        if (view_.policy.priced_moves && until > view_.now) return {{}, until};
        Mover mover;
        mover.job = &job;
        mover.ranks = job.ranks();
        for (const cluster::PlacedTask& task : job.placed) {
            mover.gpus += task.place.share * std::popcount(task.place.gpu_mask);
        }
        mover.cost = pause_cost(job, mover.gpus, view_.now);
        return {std::move(mover), {}};
    }

    // Whether any set may be worth its price; every one costs what the cheapest job in it does.
    bool is_any_worth_it() {
        bool is_any = false;
        for (const Mover* mover : movers_) {
            if (!is_too_dear(view_, job_, mover->price())) is_any = true;
        }
        if (is_any) return true;
        for (const Mover* mover : movers_) refuse({mover->price(), mover->gpus});
        return false;
    }

    // Of what is not tried for its price, only what may be worth it first is kept.
    void refuse(const Bill& bill) {
        std::vector<Bill>& known = refusal_.too_dear;
        const auto is_worse = [](const Bill& one, const Bill& other) {
            return one.price >= other.price && one.gpus >= other.gpus;
        };
        if (std::ranges::any_of(known, [&](const Bill& other) { return is_worse(bill, other); }))
            return;
        std::erase_if(known, [&](const Bill& other) { return is_worse(other, bill); });
        known.push_back(bill);
    }

    std::int64_t price(const Set& set) const {
        std::int64_t sum = 0;
        for (const std::size_t mover : set) sum += movers_[mover]->price();
        return sum;
    }

    Bill bill(const Set& set) const {
        Bill bill{price(set), {}};
        for (const std::size_t mover : set) bill.gpus += movers_[mover]->gpus;
        return bill;
    }

    void try_all_sets() {
        std::vector<std::tuple<std::int64_t, std::size_t, Set>> sets;
        for (unsigned bits = 1; bits < 1U << movers_.size(); ++bits) {
            Set set;
            for (std::size_t i = 0; i < movers_.size(); ++i) {
                if ((bits >> i & 1) != 0) set.push_back(i);
            }
            sets.emplace_back(price(set), set.size(), std::move(set));
        }
        std::ranges::sort(sets);
        for (const auto& [price, count, set] : sets) {
            if (!is_hopeless(set) && is_settled(set)) return;
        }
    }

    void try_cheapest_nodes() {
        std::vector<Clearing> clearings;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (auto clearing = clear(i)) clearings.push_back(std::move(*clearing));
        }
        std::ranges::sort(clearings);
        const auto fitting = place_fitting(view_, job_, job_.ask(), View::Coming);
        const std::size_t missing = static_cast<std::size_t>(job_.ask()) - fitting.size();
        if (missing == 0) return;
        for (std::size_t first = 0; first < kSetsTried && first + missing <= clearings.size();
             ++first) {
            Set set;
            for (std::size_t i = first; i < first + missing; ++i) {
                for (const std::size_t mover : clearings[i].movers) set.push_back(mover);
            }
            std::ranges::sort(set);
            set.erase(std::ranges::unique(set).begin(), set.end());
            if (!is_hopeless(set) && is_settled(drop_needless(set))) return;
        }
    }

    // The jobs that have to leave this node for one task: cheapest first until it fits, then
    // whoever may stay after all, dearest first.
    std::optional<Clearing> clear(std::size_t at) const {
        const NodeId node = nodes_[at];
        if (place_on(view_, job_.shape, node, View::Coming)) return {};
        Set here = on_node_[at];
        std::ranges::sort(
            here, {}, [&](std::size_t mover) { return std::pair(movers_[mover]->price(), mover); });
        Set leaving;
        for (const std::size_t mover : here) {
            leaving.push_back(mover);
            if (fits_on(node, leaving)) break;
        }
        if (!fits_on(node, leaving)) return {};
        for (std::size_t i = leaving.size(); i-- > 0;) {
            Set fewer = leaving;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            if (fits_on(node, fewer)) leaving = std::move(fewer);
        }
        std::ranges::sort(leaving);
        return Clearing{price(leaving), leaving};
    }

    // The sums of place_on, as if these had left.
    bool fits_on(NodeId node, const Set& leaving) const {
        const cluster::Cluster& cluster = view_.cluster;
        const cluster::NodeState& state = cluster.nodes()[node.index()];
        if (!state.is_ready || !cluster.allows(job_.shape, state.kind)) return false;
        std::array<std::int64_t, model::kGpusPerNodeMax> more{};
        std::int64_t cpu = 0;
        std::int64_t memory = 0;
        for (const std::size_t mover : leaving) {
            for (const cluster::PlacedTask& task : movers_[mover]->job->placed) {
                if (task.place.node != node) continue;
                cpu += task.place.cpu.value;
                memory += task.place.memory.value;
                for (std::uint64_t mask = task.place.gpu_mask; mask != 0; mask &= mask - 1) {
                    more[static_cast<std::size_t>(std::countr_zero(mask))] +=
                        task.place.share.value;
                }
            }
        }
        const auto is_enough = [](const cluster::HostUse& host, std::int64_t extra,
                                  std::int64_t wanted) {
            return host.capacity == cluster::kUnaccounted ||
                   wanted <= host.free(View::Coming) + extra;
        };
        const MilliGpu share = cluster.share_on(job_.shape, node);
        int gpus = 0;
        for (int gpu = 0; gpu < state.gpus; ++gpu) {
            const MilliGpu extra{more[static_cast<std::size_t>(gpu)]};
            gpus += share <= cluster.free(View::Coming, node, gpu) + extra;
        }
        return gpus >= cluster.shape(job_.shape).request.gpus &&
               is_enough(state.cpu, cpu, cluster.cpu_on(job_.shape, node)) &&
               is_enough(state.memory, memory, cluster.memory_on(job_.shape, node));
    }

    void release(const Set& set) const {
        for (const std::size_t mover : set) {
            view_.cluster.release(movers_[mover]->job->id, movers_[mover]->ranks);
        }
    }

    bool fits_without(const Set& set) const {
        const cluster::Trial trial(view_.cluster);
        release(set);
        return place(view_, job_, job_.ask(), View::Coming).has_value();
    }

    // Nobody moves who is not in the way.
    Set drop_needless(Set set) const {
        Set dearest_first = set;
        std::ranges::sort(dearest_first, std::greater{}, [&](std::size_t mover) {
            return std::pair(movers_[mover]->price(), mover);
        });
        for (const std::size_t mover : dearest_first) {
            Set fewer = set;
            std::erase(fewer, mover);
            if (fits_without(fewer)) set = std::move(fewer);
        }
        return set;
    }

    // Whether no part of the set could do: each job in it costs too much, or the only one there is
    // finds no room for a single task. Where it leaves there is less room for it than before.
    bool is_hopeless(const Set& set) {
        const auto cheapest = std::ranges::min_element(
            set, {}, [&](std::size_t mover) { return movers_[mover]->price(); });
        if (is_too_dear(view_, job_, movers_[*cheapest]->price())) {
            for (const std::size_t mover : set) refuse(bill({mover}));
            return true;
        }
        const Job& job = *movers_[set.front()]->job;
        return set.size() == 1 && (is_out_of_reach(view_, job.shape, 1, View::Coming) ||
                                   is_in_too_small_parts(view_, job.shape, View::Coming));
    }

    // Whether the search ends with this set: it is taken.
    bool is_settled(const Set& set) {
        if (set.empty() || std::ssize(set) > view_.policy.moves_max) return false;
        const Bill cost = bill(set);
        if (is_too_dear(view_, job_, cost.price)) {
            refuse(cost);
            return false;
        }
        if (try_moves(set) && drop_needless(set).size() == set.size()) return true;
        result_.moves.clear();
        return false;
    }

    // Nobody comes to hold more of his share or limit by having to move.
    bool counts_more(const Job& job, const Places& to) const {
        MilliGpu more{0};
        for (const TaskPlacement& task : to) more += view_.cluster.counted(task);
        for (const cluster::PlacedTask& task : job.placed) {
            more -= view_.cluster.counted(task.place);
        }
        return more > MilliGpu{0};
    }

    bool try_moves(const Set& set) {
        const cluster::Trial trial(view_.cluster);
        result_.moves.clear();
        release(set);
        auto places = place(view_, job_, job_.ask(), View::Coming);
        if (!places) return false;
        for (const TaskPlacement& task : *places) view_.cluster.take(View::Coming, task);
        Set largest_first = set;
        std::ranges::sort(largest_first, {}, [&](std::size_t mover) {
            const Job& job = *movers_[mover]->job;
            return std::tuple(-view_.cluster.shape(job.shape).request.gpus, -job.active, job.id);
        });
        std::vector<Move> moves;
        for (const std::size_t at : largest_first) {
            const Mover& mover = *movers_[at];
            auto to = place_anew(view_, *mover.job, View::Coming);
            if (!to || is_at_same_places(*mover.job, *to)) return false;
            if (counts_more(*mover.job, *to)) return false;
            for (const TaskPlacement& task : *to) view_.cluster.take(View::Coming, task);
            moves.push_back({mover.job->id, std::move(*to), model::Rule::Consolidate, job_.id,
                             mover.cost, true});
        }
        std::ranges::sort(moves, {}, &Move::job);
        result_.moves = std::move(moves);
        result_.places = std::move(*places);
        return true;
    }

    const PoolView& view_;
    const Job& job_;
    const std::function<bool(const Job&)>& may_move_;
    std::vector<NodeId> nodes_;
    std::vector<Set> on_node_;  // by position in nodes_
    Known& known_;
    std::vector<const Mover*> movers_;
    Refusal refusal_;
    Rearrangement result_;
};

}  // namespace

Rearrangement Rearrangements::find(const Job& job) {
    const Question question{job.shape, job.ask(), job.kind, job.tasks_min == 1};
    const auto known = known_.find(question);
    if (job.active == 0 && known != known_.end()) {
        const Refusal& refusal = known->second;
        const auto is_worth_it = [&](const Bill& bill) {
            return !is_too_dear(view_, job, bill.price);
        };
        if (std::ranges::none_of(refusal.too_dear, is_worth_it)) {
            return {{}, {}, worth_at(view_, job, refusal)};
        }
    }
    Search search(view_, job, may_move_, movers_);
    search.run();
    Rearrangement result = search.take_result();
    if (!result.moves.empty()) return result;
    Refusal refusal = search.take_refusal();
    result.worth_at = worth_at(view_, job, refusal);
    if (job.active == 0) known_[question] = std::move(refusal);
    return result;
}

}  // namespace berth::scheduling
