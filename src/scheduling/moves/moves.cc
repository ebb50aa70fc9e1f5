// SPDX-License-Identifier: Apache-2.0
#include "scheduling/moves/moves.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <ranges>
#include <span>
#include <tuple>
#include <utility>

#include "scheduling/place/free_capacity.h"
#include "scheduling/place/place.h"
#include "scheduling/rights/quota_gate.h"

namespace berth::scheduling {
namespace {

using MemoryResource = std::pmr::memory_resource;
using cluster::Job;
using model::Move;
using model::TaskPlacement;

using MigrationCosts = decltype(MoveSearch::Refusal::too_dear);
// Positions among the migrations, ascending.
using Set = base::SmallVector<std::size_t, 32>;
using Nodes = base::SmallVector<NodeId, kNodesTried>;

constexpr std::size_t kSetsTried = 64;

// A node on which the waiting job's next task would fit if these left.
struct Clearing {
    std::int64_t price = 0;
    Set migrations;

    bool operator<(const Clearing& other) const {
        return price != other.price ? price < other.price : migrations < other.migrations;
    }
};

bool is_at_same_places(const Job& job, const Places& places) {
    return std::ranges::all_of(job.placed, [&](const cluster::PlacedTask& old) {
        return std::ranges::any_of(places, [&](const TaskPlacement& task) {
            return task.node == old.place.node && task.gpu_mask == old.place.gpu_mask;
        });
    });
}

using MigrationCost = MoveSearch::MigrationCost;
using Refusal = MoveSearch::Refusal;

// What the job has lost by waiting.
std::int64_t lost_so_far(const PoolView& view, const Job& job) {
    return gpus_for(view, job, job.ask()).value *
           std::max<std::int64_t>((view.now - job.waiting_since).count(), 0) / 1000;
}

bool is_too_dear(const PoolView& view, const Job& job, std::int64_t price) {
    return view.policy.priced_moves && price > lost_so_far(view, job);
}

// When it is worth looking again. What is missing to a price shrinks as the job waits and grows
// with what the migrations do not save.
std::optional<TimePoint> worth_at(const PoolView& view, const Job& job, const Refusal& refusal) {
    std::optional<TimePoint> first = refusal.protected_until;
    for (const MigrationCost& cost : refusal.too_dear) {
        const std::int64_t missing = cost.price - lost_so_far(view, job);
        const std::int64_t pace = (gpus_for(view, job, job.ask()) - cost.gpus).value;  // milli-GPU
        if (pace <= 0) continue;
        const TimePoint time = view.now + model::Duration{missing * 1000 / pace + 1};
        first = std::min(first.value_or(time), time);
    }
    return first;
}

// Whether one task fits where these jobs have left.
bool fits_on(const TaskNeed& need, auto&& leaving) {
    FreeCapacity free;
    need.read(View::Coming, free);
    for (const Job& job : leaving) {
        for (const cluster::PlacedTask& task : job.placed) need.give(free, task.place, job.id);
    }
    return need.fits(free);
}

class Search {
  public:
    Search(const PoolView& view, const Job& job, Migrations& known, MemoryResource* memory)
        : view_(view),
          job_(job),
          known_(known),
          on_nodes_(memory),
          movable_(memory),
          new_places_(memory) {}

    void run() {
        find_migrations();
        if (movable_.empty()) return;
        if (movable_.size() <= kExactMigrations) {
            try_all_sets();
        } else {
            try_cheapest_nodes();
        }
    }
    Refusal take_refusal() { return std::move(refusal_); }
    FoundMoves take_result() { return std::move(result_); }

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
    void find_migrations() {
        nodes_ = nodes_to_try();
        for (const NodeId node : nodes_) {
            first_on_node_.push_back(on_nodes_.size());
            for (const Migration& known : known_.on(node)) {
                if (!can_go(*known.job)) continue;
                if (known.protected_until) {
                    auto& first = refusal_.protected_until;
                    first =
                        std::min(first.value_or(*known.protected_until), *known.protected_until);
                } else if (is_too_dear(view_, job_, known.price())) {
                    refuse({known.price(), known.gpus});
                } else {
                    on_nodes_.push_back(position_of(known));
                }
            }
        }
        first_on_node_.push_back(on_nodes_.size());
        sort_migrations();
    }

    // In victim order (R8): of sets that are alike in all else the first one moves.
    void sort_migrations() {
        std::pmr::vector<std::size_t> order(movable_.size(), movable_.get_allocator());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::sort(order, std::less{}, [&](std::size_t movable) {
            return cluster::victim_key(*movable_[movable].job);
        });
        std::pmr::vector<Migration> sorted(movable_.get_allocator());
        std::pmr::vector<std::size_t> position(movable_.size(), movable_.get_allocator());
        for (const std::size_t movable : order) {
            position[movable] = sorted.size();
            sorted.push_back(movable_[movable]);
        }
        movable_ = std::move(sorted);
        for (std::size_t& movable : on_nodes_) movable = position[movable];
    }

    // Whether it could move at all. Only jobs that block the placement move, so what a single task
    // of the job leaves over of a node is too little for any of those who left it: a migration of
    // one task needs room that is there already.
    bool can_go(const Job& movable) {
        auto known = std::ranges::find(shapes_, movable.shape, &Known::shape);
        if (known == shapes_.end()) {
            shapes_.push_back(
                {movable.shape, is_stand_in_for(movable.shape), has_room_for_one(movable.shape)});
            known = shapes_.end() - 1;
        }
        if (known->is_replaced) return false;
        return job_.ask() > 1 || movable.placed.size() > 1 || known->has_room;
    }

    // Whether tasks of the job fill the place of one of the shape's, wherever that may be: they
    // could go where it would have to go, as many as would stand where it is.
    bool is_stand_in_for(ShapeId shape) const {
        const cluster::Cluster& cluster = view_.cluster;
        const cluster::Shape& asked = cluster.shape(job_.shape);
        const model::TaskRequest& mine = asked.request;
        const model::TaskRequest& theirs = cluster.shape(shape).request;
        const bool is_free = asked.required < 0 && asked.groups.empty();
        if (!is_free || !mine.is_whole() || !theirs.is_whole() || mine.gpus == 0) return false;
        const int count = theirs.gpus / mine.gpus;
        const auto is_as_much = [&](const auto& left, const auto& other) {
            return left.has_value() == other.has_value() &&
                   (!left || left->value * count == other->value);
        };
        return theirs.gpus > 0 && theirs.gpus % mine.gpus == 0 &&
               is_as_much(mine.cpu, theirs.cpu) && is_as_much(mine.memory, theirs.memory) &&
               asks_as_much(shape, count) && may_stand_wherever(shape);
    }

    // Whether this many tasks of the job ask for as much of every resource as one of the shape's.
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

    std::size_t position_of(const Migration& movable) {
        // A job of one task was not met on another node.
        const auto at = movable.job->placed.size() > 1
                            ? std::ranges::find(movable_, movable.job, &Migration::job)
                            : movable_.end();
        const auto position = static_cast<std::size_t>(at - movable_.begin());
        if (at == movable_.end()) movable_.push_back(movable);
        return position;
    }

    // Of what is not tried for its price, only what may be worth it first is kept.
    void refuse(const MigrationCost& cost) {
        MigrationCosts& known = refusal_.too_dear;
        const auto is_worse = [](const MigrationCost& left, const MigrationCost& other) {
            return left.price >= other.price && left.gpus >= other.gpus;
        };
        if (std::ranges::any_of(known, [&](const auto& other) { return is_worse(cost, other); }))
            return;
        const auto worse = std::ranges::remove_if(
            known, [&](const MigrationCost& other) { return is_worse(other, cost); });
        known.erase(worse.begin(), worse.end());
        known.push_back(cost);
    }

    std::int64_t price(const Set& set) const {
        std::int64_t sum = 0;
        for (const std::size_t movable : set) sum += movable_[movable].price();
        return sum;
    }

    MigrationCost cost_of(const Set& set) const {
        MigrationCost cost{price(set), {}};
        for (const std::size_t movable : set) cost.gpus += movable_[movable].gpus;
        return cost;
    }

    void try_all_sets() {
        const Hosts hosts = hosts_of_migrations();
        base::SmallVector<std::tuple<std::int64_t, int, unsigned>, 64> sets;
        for (unsigned bits = 1; bits < 1U << movable_.size(); ++bits) {
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

    auto jobs_of(const Set& set) const {
        return set | std::views::transform(
                         [&](std::size_t at) -> const Job& { return *movable_[at].job; });
    }

    // A node, the migrations on it, and which of them would have to leave for one task.
    struct Host {
        unsigned migrations = 0;
        std::array<bool, 1U << kExactMigrations> fits;  // by who leaves
    };
    using Hosts = base::SmallVector<Host, 8>;
    Hosts hosts_of_migrations() const {
        Hosts hosts;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            unsigned local = 0;
            for (const std::size_t movable : on_node(i)) local |= 1U << movable;
            if (local == 0) continue;
            hosts.emplace_back().migrations = local;
            const TaskNeed need(view_, job_.shape, nodes_[i]);
            for (unsigned bits = local; bits != 0; bits = (bits - 1) & local) {
                const Set leaving = set_of(bits);
                hosts.back().fits[bits] = fits_on(need, jobs_of(leaving));
            }
        }
        return hosts;
    }

    // A job that moves frees a slot on a node that runs one of its tasks, together with the others
    // there: on one and the same node if there is one task only.
    bool could_do(const Hosts& hosts, unsigned bits) const {
        unsigned useful = 0;
        for (const Host& host : hosts) {
            const unsigned local = bits & host.migrations;
            const bool is_enough = local == bits || (local != 0 && job_.ask() > 1);
            if (is_enough && host.fits[local]) useful |= local;
        }
        return useful == bits;
    }

    std::span<const std::size_t> on_node(std::size_t i) const {
        return std::span(on_nodes_).subspan(first_on_node_[i],
                                            first_on_node_[i + 1] - first_on_node_[i]);
    }

    // The most slots that as many jobs as may move can free: each frees the nodes it runs on.
    std::int64_t most_slots() const {
        std::pmr::vector<std::int64_t> tasks(movable_.get_allocator());
        for (const Migration& movable : movable_) tasks.push_back(std::ssize(movable.job->placed));
        const auto count = std::min<std::ptrdiff_t>(view_.policy.moves_max, std::ssize(tasks));
        std::ranges::partial_sort(tasks, tasks.begin() + count, std::greater{});
        const std::int64_t nodes =
            std::accumulate(tasks.begin(), tasks.begin() + count, std::int64_t{0});
        return nodes * slots_on_a_node();
    }

    // The most tasks of the job that fit on one node.
    std::int64_t slots_on_a_node() const {
        const model::TaskRequest& request = view_.cluster.shape(job_.shape).request;
        const bool is_bounded = request.is_whole() && request.gpus > 0;
        const int gpus = view_.cluster.pool(view_.pool).gpus_per_node_max;
        return is_bounded ? gpus / request.gpus : std::numeric_limits<std::int32_t>::max();
    }

    // Where every node has room for one task and every job stands on one, all that were found to be
    // in the way on these nodes are.
    bool has_needless(const Set& set) const {
        return slots_on_a_node() > 1 || std::ranges::any_of(set, [&](std::size_t movable) {
                   return movable_[movable].job->placed.size() > 1;
               });
    }

    void try_cheapest_nodes() {
        const auto fitting = place_fitting(view_, job_, job_.ask(), View::Coming);
        const std::size_t missing = static_cast<std::size_t>(job_.ask()) - fitting.size();
        if (missing == 0 || std::cmp_greater(missing, most_slots())) return;
        std::pmr::vector<Clearing> cleared_nodes(movable_.get_allocator());
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (auto cleared = clear(i)) cleared_nodes.push_back(std::move(*cleared));
        }
        std::sort(cleared_nodes.begin(), cleared_nodes.end());
        for (std::size_t first = 0; first < kSetsTried && first + missing <= cleared_nodes.size();
             ++first) {
            Set set;
            for (std::size_t i = first; i < first + missing; ++i) {
                std::ranges::copy(cleared_nodes[i].migrations, std::back_inserter(set));
            }
            std::ranges::sort(set);
            set.erase(std::ranges::unique(set).begin(), set.end());
            if (has_needless(set)) set = minimise(std::move(set));
            if (!has_no_room(set) && is_settled(set)) return;
        }
    }

    // The jobs that have to leave this node for one task: cheapest first until it fits, then
    // jobs that may stay after all, dearest first.
    std::optional<Clearing> clear(std::size_t at) const {
        const NodeId node = nodes_[at];
        if (place_on(view_, job_.shape, node, View::Coming)) return {};
        const auto migrations = on_node(at);
        Set local(migrations.begin(), migrations.end());
        std::ranges::sort(local, {},
                          [&](std::size_t i) { return std::pair(movable_[i].price(), i); });
        const TaskNeed need(view_, job_.shape, node);
        Set leaving;
        for (const std::size_t movable : local) {
            leaving.push_back(movable);
            if (fits_on(need, jobs_of(leaving))) break;
        }
        if (!fits_on(need, jobs_of(leaving))) return {};
        for (std::size_t i = leaving.size(); i-- > 0;) {
            Set fewer = leaving;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            if (fits_on(need, jobs_of(fewer))) leaving = std::move(fewer);
        }
        std::ranges::sort(leaving);
        return Clearing{price(leaving), leaving};
    }

    void release(const Set& set) const {
        for (const Job& job : jobs_of(set)) view_.cluster.release(job.id, job.ranks());
    }

    bool fits_without(const Set& set) const {
        const cluster::Trial trial(view_.cluster);
        release(set);
        return place(view_, job_, job_.ask(), View::Coming).has_value();
    }

    // Only jobs that block the placement move. None does where one of them would find no place.
    Set minimise(Set set) const {
        const Set stuck = without_room(set);
        if (stuck.size() == set.size()) return {};
        Set dearest_first = set;
        std::ranges::sort(dearest_first, std::greater{}, [&](std::size_t movable) {
            return std::pair(movable_[movable].price(), movable);
        });
        for (const std::size_t movable : dearest_first) {
            Set fewer = set;
            fewer.erase(std::ranges::find(fewer, movable));
            if (fits_without(fewer)) {
                set = std::move(fewer);
            } else if (std::ranges::find(stuck, movable) != stuck.end()) {
                return {};
            }
        }
        return set;
    }

    // Those who find no room when all of them have left and the job stands somewhere, as far as
    // free counts say; none of them does when fewer leave.
    Set without_room(const Set& set) const {
        const cluster::Trial trial(view_.cluster);
        release(set);
        Set stuck;
        for (const std::size_t movable : set) {
            if (!has_room_beside_job(*movable_[movable].job)) stuck.push_back(movable);
        }
        return stuck;
    }

    // Each task of the job takes at least as many slots as it could hold.
    bool has_room_beside_job(const Job& movable) const {
        const auto& pool = view_.cluster.pool(view_.pool);
        const auto& free = pool.free[static_cast<std::size_t>(View::Coming)];
        const model::TaskRequest& mine = view_.cluster.shape(job_.shape).request;
        const model::TaskRequest& theirs = view_.cluster.shape(movable.shape).request;
        if (!mine.is_whole() || theirs.gpus == 0) return true;
        if (!theirs.is_whole() && has_part_left(view_, movable.shape, View::Coming)) return true;
        const int gpus = theirs.is_whole() ? theirs.gpus : 1;
        const std::int64_t taken = std::int64_t{job_.ask()} * (mine.gpus / gpus);
        const std::int64_t wanted = theirs.is_whole() ? movable.tasks_placed() : 1;
        return free.slots(gpus, pool.gpus_per_node_max) - taken >= wanted;
    }

    // Whether a single task could stand anywhere, as far as free counts say.
    bool has_room_for_one(ShapeId shape) const {
        return !exceeds_capacity(view_, shape, 1, View::Coming) &&
               !exceeds_largest_part(view_, shape, View::Coming);
    }

    // Whether the only job of the set finds no room for a single task. Where it leaves there is
    // less room for it than before.
    bool has_no_room(const Set& set) const {
        return set.size() == 1 && !has_room_for_one(movable_[set.front()].job->shape);
    }

    // Whether the search ends with this set: it is taken.
    bool is_settled(const Set& set) {
        if (set.empty() || std::ssize(set) > view_.policy.moves_max) return false;
        const MigrationCost cost = cost_of(set);
        if (is_too_dear(view_, job_, cost.price)) {
            refuse(cost);
            return false;
        }
        if (!try_moves(set) || minimise(set).size() != set.size()) return false;
        write_down();
        return true;
    }

    // No project comes to hold more of its share or limit by a move; nor less, where GPUs are
    // set aside for what it does not hold.
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
        std::ranges::sort(largest_first_, {}, [&](std::size_t movable) {
            const Job& job = *movable_[movable].job;
            return std::tuple(-view_.cluster.shape(job.shape).request.gpus, -job.active, job.id);
        });
        new_places_.clear();
        for (const std::size_t at : largest_first_) {
            const Job& job = *movable_[at].job;
            const auto to = place_anew(view_, job, View::Coming);
            if (!to || is_at_same_places(job, *to) || counts_otherwise(job, *to)) return false;
            for (const TaskPlacement& task : *to) {
                view_.cluster.take(View::Coming, job.shape, task);
            }
            new_places_.insert(new_places_.end(), to->begin(), to->end());
        }
        result_.places = std::move(*places);
        return true;
    }

    void write_down() {
        auto to = new_places_.begin();
        for (const std::size_t at : largest_first_) {
            const Migration& chosen = movable_[at];
            const auto end = to + std::ssize(chosen.job->placed);
            result_.moves.push_back(
                {chosen.job->id, {to, end}, model::Rule::Consolidate, job_.id, chosen.cost, true});
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
    Migrations& known_;
    base::SmallVector<Known, 16> shapes_;  // of migrations
    Nodes nodes_;
    std::pmr::vector<std::size_t> on_nodes_;  // the migrations on each of them, one after the other
    // Where those of a node begin; one more at the end.
    base::SmallVector<std::size_t, kNodesTried + 1> first_on_node_;
    std::pmr::vector<Migration> movable_;
    Set largest_first_;  // of those tried last
    std::pmr::vector<TaskPlacement> new_places_;  // theirs, one after the other
    Refusal refusal_;
    FoundMoves result_;
};

}  // namespace

FoundMoves MoveSearch::find(const Job& job) {
    const Question question{job.shape, job.ask(), job.kind, job.tasks_min == 1};
    const auto known = known_.find(question);
    if (job.active == 0 && known != known_.end()) {
        const Refusal& refusal = known->second;
        const auto is_worth_it = [&](const MigrationCost& cost) {
            return !is_too_dear(view_, job, cost.price);
        };
        if (std::ranges::none_of(refusal.too_dear, is_worth_it)) {
            return {{}, {}, worth_at(view_, job, refusal)};
        }
    }
    Search search(view_, job, migrations_, known_.get_allocator().resource());
    search.run();
    FoundMoves result = search.take_result();
    if (!result.moves.empty()) return result;
    Refusal refusal = search.take_refusal();
    result.worth_at = worth_at(view_, job, refusal);
    if (job.active == 0) known_[question] = std::move(refusal);
    return result;
}

}  // namespace berth::scheduling
