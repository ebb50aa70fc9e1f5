// SPDX-License-Identifier: Apache-2.0
#include "scheduling/moves/moves.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "scheduling/moves/room_without.h"
#include "scheduling/place/place.h"
#include "scheduling/rights/quota_gate.h"

namespace berth::scheduling {
namespace {

using cluster::Job;
using model::Move;
using model::TaskPlacement;

using Bills = decltype(Rearrangements::Refusal::too_dear);
// Positions among the movers, ascending.
using Set = base::SmallVector<std::size_t, 32>;
using Nodes = base::SmallVector<NodeId, kNodesTried>;

constexpr std::size_t kSetsTried = 64;

// A node on which the waiting job's next task would fit if these left.
struct Clearing {
    std::int64_t price = 0;
    Set movers;

    bool operator<(const Clearing& other) const {
        return price != other.price ? price < other.price : movers < other.movers;
    }
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
    Search(const PoolView& view, const Job& job, Movers& known, std::pmr::memory_resource* memory)
        : view_(view),
          job_(job),
          known_(known),
          on_nodes_(memory),
          movers_(memory),
          new_places_(memory) {}

    void run() {
        find_movers();
        if (movers_.empty()) return;
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
    Nodes nodes_to_try() const {
        const auto& pool = view_.cluster.pool(view_.pool);
        const auto& free = pool.free[static_cast<std::size_t>(View::Coming)];
        const model::TaskRequest& request = view_.cluster.shape(job_.shape).request;
        Nodes nodes;
        const auto add = [&](NodeId node) {
            const auto& state = view_.cluster.nodes()[node.index()];
            const bool is_new =
                nodes.size() < kNodesTried && std::ranges::find(nodes, node) == nodes.end();
            if (is_new && view_.cluster.allows(job_.shape, state.kind)) nodes.push_back(node);
        };
        for (int count = pool.gpus_per_node_max; count >= 0; --count) {
            if (count == 0 && !request.is_whole()) {
                auto gpu = free.partial().end();
                while (gpu != free.partial().begin() && nodes.size() < kNodesTried) {
                    add((--gpu)->node);
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

    // A set costs what each job in it does at least: those that are too dear alone are left out.
    void find_movers() {
        nodes_ = nodes_to_try();
        for (const NodeId node : nodes_) {
            first_on_node_.push_back(on_nodes_.size());
            for (const Mover& mover : known_.on(node)) {
                if (!can_go(*mover.job)) continue;
                if (mover.protected_until) {
                    auto& first = refusal_.protected_until;
                    first =
                        std::min(first.value_or(*mover.protected_until), *mover.protected_until);
                } else if (is_too_dear(view_, job_, mover.price())) {
                    refuse({mover.price(), mover.gpus});
                } else {
                    on_nodes_.push_back(position_of(mover));
                }
            }
        }
        first_on_node_.push_back(on_nodes_.size());
        sort_movers();
    }

    // In victim order (R8): of sets that are alike in all else the first one moves.
    void sort_movers() {
        std::pmr::vector<std::size_t> order(movers_.size(), movers_.get_allocator());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::sort(order, std::less{}, [&](std::size_t mover) {
            return cluster::victim_key(*movers_[mover].job);
        });
        std::pmr::vector<Mover> sorted(movers_.get_allocator());
        std::pmr::vector<std::size_t> position(movers_.size(), movers_.get_allocator());
        for (const std::size_t mover : order) {
            position[mover] = sorted.size();
            sorted.push_back(movers_[mover]);
        }
        movers_ = std::move(sorted);
        for (std::size_t& mover : on_nodes_) mover = position[mover];
    }

    // Whether it could move at all. Nobody moves who is not in the way, so what a single task of
    // the job leaves over of a node is too little for any of those who left it: a mover of one task
    // needs room that is there already.
    bool can_go(const Job& mover) {
        auto known = std::ranges::find(shapes_, mover.shape, &Known::shape);
        if (known == shapes_.end()) {
            shapes_.push_back(
                {mover.shape, is_stand_in_for(mover.shape), has_room_for_one(mover.shape)});
            known = shapes_.end() - 1;
        }
        if (known->is_replaced) return false;
        return job_.ask() > 1 || mover.placed.size() > 1 || known->has_room;
    }

    // Whether tasks of the job fill the place of one of the shape's, wherever that may be: they
    // could go where it would have to go, as many as would stand where it is.
    bool is_stand_in_for(ShapeId shape) const {
        const cluster::Cluster& cluster = view_.cluster;
        const cluster::Shape& own = cluster.shape(job_.shape);
        const model::TaskRequest& mine = own.request;
        const model::TaskRequest& theirs = cluster.shape(shape).request;
        const bool is_free = own.required < 0 && own.groups.empty();
        if (!is_free || !mine.is_whole() || !theirs.is_whole() || mine.gpus == 0) return false;
        const int count = theirs.gpus / mine.gpus;
        const auto is_as_much = [&](const auto& one, const auto& other) {
            return one.has_value() == other.has_value() &&
                   (!one || one->value * count == other->value);
        };
        return theirs.gpus > 0 && theirs.gpus % mine.gpus == 0 &&
               is_as_much(mine.cpu, theirs.cpu) && is_as_much(mine.memory, theirs.memory) &&
               asks_as_much(shape, count) && may_stand_wherever(shape);
    }

    // Whether so many tasks of the job ask for as much of every resource as one of the shape's.
    bool asks_as_much(ShapeId shape, std::int64_t count) const {
        const cluster::NodeResources& resources = view_.cluster.resources();
        const auto is_as_much = [&](const cluster::ResourceAsk& ask) {
            return resources.asked(job_.shape, ask.resource) * count ==
                   resources.asked(shape, ask.resource);
        };
        return std::ranges::all_of(resources.asked(job_.shape), is_as_much) &&
               std::ranges::all_of(resources.asked(shape), is_as_much);
    }

    bool may_stand_wherever(ShapeId shape) const {
        const auto& nodes = view_.cluster.pool(view_.pool).nodes_of_kind;
        for (std::uint16_t kind = 0; kind < nodes.size(); ++kind) {
            if (nodes[kind] == 0 || view_.cluster.allows(job_.shape, kind)) continue;
            if (view_.cluster.allows(shape, kind)) return false;
        }
        return true;
    }

    std::size_t position_of(const Mover& mover) {
        // A job of one task was not met on another node.
        const auto at = mover.job->placed.size() > 1
                            ? std::ranges::find(movers_, mover.job, &Mover::job)
                            : movers_.end();
        const auto position = static_cast<std::size_t>(at - movers_.begin());
        if (at == movers_.end()) movers_.push_back(mover);
        return position;
    }

    // Of what is not tried for its price, only what may be worth it first is kept.
    void refuse(const Bill& bill) {
        Bills& known = refusal_.too_dear;
        const auto is_worse = [](const Bill& one, const Bill& other) {
            return one.price >= other.price && one.gpus >= other.gpus;
        };
        if (std::ranges::any_of(known, [&](const Bill& other) { return is_worse(bill, other); }))
            return;
        const auto worse =
            std::ranges::remove_if(known, [&](const Bill& other) { return is_worse(other, bill); });
        known.erase(worse.begin(), worse.end());
        known.push_back(bill);
    }

    std::int64_t price(const Set& set) const {
        std::int64_t sum = 0;
        for (const std::size_t mover : set) sum += movers_[mover].price();
        return sum;
    }

    Bill bill(const Set& set) const {
        Bill bill{price(set), {}};
        for (const std::size_t mover : set) bill.gpus += movers_[mover].gpus;
        return bill;
    }

    void try_all_sets() {
        const Hosts hosts = hosts_of_movers();
        base::SmallVector<std::tuple<std::int64_t, int, unsigned>, 64> sets;
        for (unsigned bits = 1; bits < 1U << movers_.size(); ++bits) {
            if (!could_do(hosts, bits)) continue;
            sets.emplace_back(price(set_of(bits)), std::popcount(bits), bits);
        }
        std::ranges::sort(sets);
        for (const auto& [price, count, bits] : sets) {
            const Set set = set_of(bits);
            if (!has_no_room(set) && is_settled(set)) return;
        }
    }

    static Set set_of(unsigned bits) {
        Set set;
        for (; bits != 0; bits &= bits - 1) {
            set.push_back(static_cast<std::size_t>(std::countr_zero(bits)));
        }
        return set;
    }

    // A node, the movers on it, and which of them would have to leave for one task.
    struct Host {
        unsigned movers = 0;
        std::array<bool, 1U << kExactMovers> fits;  // by who leaves
    };
    using Hosts = base::SmallVector<Host, 8>;
    Hosts hosts_of_movers() const {
        Hosts hosts;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            unsigned here = 0;
            for (const std::size_t mover : on_node(i)) here |= 1U << mover;
            if (here == 0) continue;
            hosts.emplace_back().movers = here;
            for (unsigned bits = here; bits != 0; bits = (bits - 1) & here) {
                hosts.back().fits[bits] = fits_on(nodes_[i], set_of(bits));
            }
        }
        return hosts;
    }

    // Whoever moves makes room for a task on a node where he stands, together with the others
    // there: on one and the same node if there is one task only.
    bool could_do(const Hosts& hosts, unsigned bits) const {
        unsigned useful = 0;
        for (const Host& host : hosts) {
            const unsigned here = bits & host.movers;
            const bool is_enough = here == bits || (here != 0 && job_.ask() > 1);
            if (is_enough && host.fits[here]) useful |= here;
        }
        return useful == bits;
    }

    std::span<const std::size_t> on_node(std::size_t i) const {
        return std::span(on_nodes_).subspan(first_on_node_[i],
                                            first_on_node_[i + 1] - first_on_node_[i]);
    }

    // At most so many slots come from as many jobs as may move: each frees the nodes it stands on.
    std::int64_t most_slots() const {
        std::pmr::vector<std::int64_t> tasks(movers_.get_allocator());
        for (const Mover& mover : movers_) tasks.push_back(std::ssize(mover.job->placed));
        const auto count = std::min<std::ptrdiff_t>(view_.policy.moves_max, std::ssize(tasks));
        std::ranges::partial_sort(tasks, tasks.begin() + count, std::greater{});
        const std::int64_t nodes =
            std::accumulate(tasks.begin(), tasks.begin() + count, std::int64_t{0});
        return nodes * slots_on_a_node();
    }

    // At most so many tasks of the job stand on one node.
    std::int64_t slots_on_a_node() const {
        const model::TaskRequest& request = view_.cluster.shape(job_.shape).request;
        const bool is_bounded = request.is_whole() && request.gpus > 0;
        const int gpus = view_.cluster.pool(view_.pool).gpus_per_node_max;
        return is_bounded ? gpus / request.gpus : std::numeric_limits<std::int32_t>::max();
    }

    // Where every node has room for one task and every job stands on one, all that were found to be
    // in the way on these nodes are.
    bool has_needless(const Set& set) const {
        return slots_on_a_node() > 1 || std::ranges::any_of(set, [&](std::size_t mover) {
                   return movers_[mover].job->placed.size() > 1;
               });
    }

    void try_cheapest_nodes() {
        const auto fitting = place_fitting(view_, job_, job_.ask(), View::Coming);
        const std::size_t missing = static_cast<std::size_t>(job_.ask()) - fitting.size();
        if (missing == 0 || std::cmp_greater(missing, most_slots())) return;
        std::pmr::vector<Clearing> clearings(movers_.get_allocator());
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (auto clearing = clear(i)) clearings.push_back(std::move(*clearing));
        }
        std::sort(clearings.begin(), clearings.end());
        for (std::size_t first = 0; first < kSetsTried && first + missing <= clearings.size();
             ++first) {
            Set set;
            for (std::size_t i = first; i < first + missing; ++i) {
                for (const std::size_t mover : clearings[i].movers) set.push_back(mover);
            }
            std::ranges::sort(set);
            set.erase(std::ranges::unique(set).begin(), set.end());
            if (has_needless(set)) set = drop_needless(std::move(set));
            if (!has_no_room(set) && is_settled(set)) return;
        }
    }

    // The jobs that have to leave this node for one task: cheapest first until it fits, then
    // whoever may stay after all, dearest first.
    std::optional<Clearing> clear(std::size_t at) const {
        const NodeId node = nodes_[at];
        if (place_on(view_, job_.shape, node, View::Coming)) return {};
        const auto movers = on_node(at);
        Set here(movers.begin(), movers.end());
        std::ranges::sort(
            here, {}, [&](std::size_t mover) { return std::pair(movers_[mover].price(), mover); });
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

    bool fits_on(NodeId node, const Set& leaving) const {
        base::SmallVector<const Job*, 16> jobs;
        for (const std::size_t mover : leaving) jobs.push_back(movers_[mover].job);
        return has_room_without(view_, job_.shape, node, jobs);
    }

    void release(const Set& set) const {
        for (const std::size_t mover : set) {
            view_.cluster.release(movers_[mover].job->id, movers_[mover].job->ranks());
        }
    }

    bool fits_without(const Set& set) const {
        const cluster::Trial trial(view_.cluster);
        release(set);
        return place(view_, job_, job_.ask(), View::Coming).has_value();
    }

    // Nobody moves who is not in the way. Nobody at all where one who is would find no room.
    Set drop_needless(Set set) const {
        const Set stuck = without_room(set);
        if (stuck.size() == set.size()) return {};
        Set dearest_first = set;
        std::ranges::sort(dearest_first, std::greater{}, [&](std::size_t mover) {
            return std::pair(movers_[mover].price(), mover);
        });
        for (const std::size_t mover : dearest_first) {
            Set fewer = set;
            fewer.erase(std::ranges::find(fewer, mover));
            if (fits_without(fewer)) {
                set = std::move(fewer);
            } else if (std::ranges::find(stuck, mover) != stuck.end()) {
                return {};
            }
        }
        return set;
    }

    // Those who find no room when all of them have left and the job stands somewhere, as far as
    // free counts tell; none of them does when fewer leave.
    Set without_room(const Set& set) const {
        const cluster::Trial trial(view_.cluster);
        release(set);
        Set stuck;
        for (const std::size_t mover : set) {
            if (!has_room_beside_job(*movers_[mover].job)) stuck.push_back(mover);
        }
        return stuck;
    }

    // Each task of the job takes at least as many slots as it could hold.
    bool has_room_beside_job(const Job& mover) const {
        const auto& pool = view_.cluster.pool(view_.pool);
        const auto& free = pool.free[static_cast<std::size_t>(View::Coming)];
        const model::TaskRequest& mine = view_.cluster.shape(job_.shape).request;
        const model::TaskRequest& theirs = view_.cluster.shape(mover.shape).request;
        if (!mine.is_whole() || theirs.gpus == 0) return true;
        if (!theirs.is_whole() && has_part_left(view_, mover.shape, View::Coming)) return true;
        const int gpus = theirs.is_whole() ? theirs.gpus : 1;
        const std::int64_t taken = std::int64_t{job_.ask()} * (mine.gpus / gpus);
        const std::int64_t wanted = theirs.is_whole() ? mover.tasks_placed() : 1;
        return free.slots(gpus, pool.gpus_per_node_max) - taken >= wanted;
    }

    // Whether a single task could stand anywhere, as far as free counts tell.
    bool has_room_for_one(ShapeId shape) const {
        return !is_out_of_reach(view_, shape, 1, View::Coming) &&
               !is_in_too_small_parts(view_, shape, View::Coming);
    }

    // Whether the only job of the set finds no room for a single task. Where it leaves there is
    // less room for it than before.
    bool has_no_room(const Set& set) const {
        return set.size() == 1 && !has_room_for_one(movers_[set.front()].job->shape);
    }

    // Whether the search ends with this set: it is taken.
    bool is_settled(const Set& set) {
        if (set.empty() || std::ssize(set) > view_.policy.moves_max) return false;
        const Bill cost = bill(set);
        if (is_too_dear(view_, job_, cost.price)) {
            refuse(cost);
            return false;
        }
        if (!try_moves(set) || drop_needless(set).size() != set.size()) return false;
        write_down();
        return true;
    }

    // Nobody comes to hold more of his share or limit by having to move; nor less, where GPUs are
    // set aside for what he does not hold.
    bool counts_otherwise(const Job& job, const Places& to) const {
        MilliGpu more{0};
        for (const TaskPlacement& task : to) more += view_.cluster.counted(task);
        for (const cluster::PlacedTask& task : job.placed) {
            more -= view_.cluster.counted(task.place);
        }
        return more > MilliGpu{0} || (more < MilliGpu{0} && is_set_aside(view_, job.project));
    }

    // Whether the job and everyone in the set find a place.
    bool try_moves(const Set& set) {
        const cluster::Trial trial(view_.cluster);
        release(set);
        auto places = place(view_, job_, job_.ask(), View::Coming);
        if (!places) return false;
        for (const TaskPlacement& task : *places) {
            view_.cluster.take(View::Coming, job_.shape, task);
        }
        largest_first_ = set;
        std::ranges::sort(largest_first_, {}, [&](std::size_t mover) {
            const Job& job = *movers_[mover].job;
            return std::tuple(-view_.cluster.shape(job.shape).request.gpus, -job.active, job.id);
        });
        new_places_.clear();
        for (const std::size_t at : largest_first_) {
            const Job& mover = *movers_[at].job;
            const auto to = place_anew(view_, mover, View::Coming);
            if (!to || is_at_same_places(mover, *to) || counts_otherwise(mover, *to)) return false;
            for (const TaskPlacement& task : *to) {
                view_.cluster.take(View::Coming, mover.shape, task);
            }
            new_places_.insert(new_places_.end(), to->begin(), to->end());
        }
        result_.places = std::move(*places);
        return true;
    }

    void write_down() {
        auto to = new_places_.begin();
        for (const std::size_t at : largest_first_) {
            const Mover& mover = movers_[at];
            const auto end = to + std::ssize(mover.job->placed);
            result_.moves.push_back(
                {mover.job->id, {to, end}, model::Rule::Consolidate, job_.id, mover.cost, true});
            to = end;
        }
        std::ranges::sort(result_.moves, {}, &Move::job);
    }

    struct Known {
        ShapeId shape;
        bool is_replaced;  // by tasks of the job, wherever it could go
        bool has_room;  // for one task
    };

    const PoolView& view_;
    const Job& job_;
    Movers& known_;
    base::SmallVector<Known, 16> shapes_;  // of movers
    Nodes nodes_;
    std::pmr::vector<std::size_t> on_nodes_;  // the movers on each of them, one after the other
    // Where those of a node begin; one more at the end.
    base::SmallVector<std::size_t, kNodesTried + 1> first_on_node_;
    std::pmr::vector<Mover> movers_;
    Set largest_first_;  // of those tried last
    std::pmr::vector<TaskPlacement> new_places_;  // theirs, one after the other
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
    Search search(view_, job, movers_, known_.get_allocator().resource());
    search.run();
    Rearrangement result = search.take_result();
    if (!result.moves.empty()) return result;
    Refusal refusal = search.take_refusal();
    result.worth_at = worth_at(view_, job, refusal);
    if (job.active == 0) known_[question] = std::move(refusal);
    return result;
}

}  // namespace berth::scheduling
