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

#include "scheduling/moves/movable_jobs.h"
#include "scheduling/place/free_capacity.h"
#include "scheduling/place/place.h"
#include "scheduling/rights/quota_gate.h"

namespace berth::scheduling {
namespace {

using MemoryResource = std::pmr::memory_resource;
using cluster::Job;
using model::Move;
using model::TaskPlacement;

// Positions among the migrations, ascending.
using Set = base::SmallVector<std::size_t, 32>;

constexpr std::size_t kSetsTried = 64;

// A node on which the waiting job's next task would fit if these left.
struct Clearing {
    std::int64_t price = 0;
    Set migrations;

    bool operator<(const Clearing& other) const {
        return price != other.price ? price < other.price : migrations < other.migrations;
    }
};

// Whether one task fits where these jobs have left.
bool fits_on(const TaskNeed& need, auto&& leaving) {
    FreeCapacity free;
    need.read(View::Coming, free);
    for (const Job& job : leaving) {
        for (const cluster::PlacedTask& task : job.placed) need.give(free, task.place, job.id);
    }
    return need.fits(free);
}

auto jobs_of(const MovableJobs& movable, const Set& set) {
    return set |
           std::views::transform([&](std::size_t at) -> const Job& { return *movable[at].job; });
}

void release(cluster::Cluster& cluster, auto&& jobs) {
    for (const Job& job : jobs) cluster.release(job.id, job.ranks());
}

bool is_at_same_places(const Job& job, const Places& places) {
    return std::ranges::all_of(job.placed, [&](const cluster::PlacedTask& old) {
        return std::ranges::any_of(places, [&](const TaskPlacement& task) {
            return task.node == old.place.node && task.gpu_mask == old.place.gpu_mask;
        });
    });
}

// No project comes to hold more of its share or limit by a move; nor less, where GPUs are
// set aside for what it does not hold.
bool counts_otherwise(const PoolView& view, const Job& job, const Places& to) {
    MilliGpu more{0};
    for (const TaskPlacement& task : to) more += view.cluster.counted(task);
    for (const cluster::PlacedTask& task : job.placed) {
        more -= view.cluster.counted(task.place);
    }
    return more > MilliGpu{0} || (more < MilliGpu{0} && is_set_aside(view, job.project));
}

// Where the waiting job and everyone who moves for it stand, if all of them find a place.
class NewPlaces {
  public:
    NewPlaces(const PoolView& view, const Job& job, const MovableJobs& movable,
              MemoryResource* memory)
        : view_(view), job_(job), movable_(movable), new_places_(memory) {}

    // Whether the job and everyone in the set find a place.
    bool find(const Set& set) {
        const cluster::Trial trial(view_.cluster);
        release(view_.cluster, jobs_of(movable_, set));
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
            if (!to || is_at_same_places(job, *to) || counts_otherwise(view_, job, *to))
                return false;
            for (const TaskPlacement& task : *to) {
                view_.cluster.take(View::Coming, job.shape, task);
            }
            new_places_.insert(new_places_.end(), to->begin(), to->end());
        }
        places_ = std::move(*places);
        return true;
    }

    // Those found last.
    FoundMoves take() {
        FoundMoves result{{}, std::move(places_), {}};
        auto to = new_places_.begin();
        for (const std::size_t at : largest_first_) {
            const Migration& chosen = movable_[at];
            const auto end = to + chosen.job->tasks_anew();
            result.moves.push_back(
                {chosen.job->id, {to, end}, model::Rule::Consolidate, job_.id, chosen.cost, true});
            to = end;
        }
        std::ranges::sort(result.moves, {}, &Move::job);
        return result;
    }

  private:
    const PoolView& view_;
    const Job& job_;
    const MovableJobs& movable_;
    Set largest_first_;  // of those tried last
    Places places_;  // the waiting job's
    std::pmr::vector<TaskPlacement> new_places_;  // theirs, one after the other
};

class Search {
  public:
    Search(const PoolView& view, const Job& job, Migrations& known, MemoryResource* memory)
        : view_(view),
          job_(job),
          memory_(memory),
          movable_(view, job, known, memory),
          new_places_(view, job, movable_, memory),
          refusal_(movable_.refusal()) {}

    void run() {
        if (movable_.size() == 0) return;
        if (movable_.size() <= kExactMigrations) {
            try_all_sets();
        } else {
            try_cheapest_nodes();
        }
    }
    MoveRefusal take_refusal() { return std::move(refusal_); }
    FoundMoves take_result() { return std::move(result_); }

  private:
    std::int64_t price(const Set& set) const {
        std::int64_t sum = 0;
        for (const std::size_t movable : set) sum += movable_[movable].expected.price;
        return sum;
    }

    MigrationCost cost_of(const Set& set) const {
        MigrationCost cost{price(set), {}};
        for (const std::size_t movable : set) cost.gpus += movable_[movable].expected.gpus;
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

    // A node, the migrations on it, and which of them would have to leave for one task.
    struct Host {
        unsigned migrations = 0;
        std::array<bool, 1U << kExactMigrations> fits;  // by who leaves
    };
    using Hosts = base::SmallVector<Host, 8>;
    Hosts hosts_of_migrations() const {
        Hosts hosts;
        for (std::size_t i = 0; i < movable_.nodes().size(); ++i) {
            unsigned local = 0;
            for (const std::size_t movable : movable_.on_node(i)) local |= 1U << movable;
            if (local == 0) continue;
            hosts.emplace_back().migrations = local;
            const TaskNeed need(view_, job_.shape, movable_.nodes()[i]);
            for (unsigned bits = local; bits != 0; bits = (bits - 1) & local) {
                const Set leaving = set_of(bits);
                hosts.back().fits[bits] = fits_on(need, jobs_of(movable_, leaving));
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

    // The most slots that as many jobs as may move can free: each frees the nodes it runs on.
    std::int64_t most_slots() const {
        std::pmr::vector<std::int64_t> tasks(memory_);
        for (const Migration& movable : movable_.all())
            tasks.push_back(std::ssize(movable.job->placed));
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
        std::pmr::vector<Clearing> cleared_nodes(memory_);
        for (std::size_t i = 0; i < movable_.nodes().size(); ++i) {
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
        const NodeId node = movable_.nodes()[at];
        if (place_on(view_, job_.shape, node, View::Coming)) return {};
        const auto migrations = movable_.on_node(at);
        Set local(migrations.begin(), migrations.end());
        std::ranges::sort(local, {},
                          [&](std::size_t i) { return std::pair(movable_[i].expected.price, i); });
        const TaskNeed need(view_, job_.shape, node);
        Set leaving;
        for (const std::size_t movable : local) {
            leaving.push_back(movable);
            if (fits_on(need, jobs_of(movable_, leaving))) break;
        }
        if (!fits_on(need, jobs_of(movable_, leaving))) return {};
        for (std::size_t i = leaving.size(); i-- > 0;) {
            Set fewer = leaving;
            fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
            if (fits_on(need, jobs_of(movable_, fewer))) leaving = std::move(fewer);
        }
        std::ranges::sort(leaving);
        return Clearing{price(leaving), leaving};
    }

    bool fits_without(const Set& set) const {
        const cluster::Trial trial(view_.cluster);
        release(view_.cluster, jobs_of(movable_, set));
        return place(view_, job_, job_.ask(), View::Coming).has_value();
    }

    // Only jobs that block the placement move. None does where one of them would find no place.
    Set minimise(Set set) const {
        const Set stuck = without_room(set);
        if (stuck.size() == set.size()) return {};
        Set dearest_first = set;
        std::ranges::sort(dearest_first, std::greater{}, [&](std::size_t movable) {
            return std::pair(movable_[movable].expected.price, movable);
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
        release(view_.cluster, jobs_of(movable_, set));
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

    // Whether the only job of the set finds no room for a single task. Where it leaves there is
    // less room for it than before.
    bool has_no_room(const Set& set) const {
        return set.size() == 1 && !has_room_for_one(view_, movable_[set.front()].job->shape);
    }

    // Whether the search ends with this set: it is taken.
    bool is_settled(const Set& set) {
        if (set.empty() || std::ssize(set) > view_.policy.moves_max) return false;
        const MigrationCost cost = cost_of(set);
        if (is_too_dear(view_, job_, cost.price)) {
            refusal_.add(cost);
            return false;
        }
        if (!new_places_.find(set) || minimise(set).size() != set.size()) return false;
        result_ = new_places_.take();
        return true;
    }

    const PoolView& view_;
    const Job& job_;
    MemoryResource* memory_;
    MovableJobs movable_;
    NewPlaces new_places_;
    MoveRefusal refusal_;
    FoundMoves result_;
};

}  // namespace

FoundMoves MoveSearch::find(const Job& job, std::optional<std::uint64_t> opened) {
    const Question question{job.shape, job.ask(), job.kind, job.tasks_min == 1, opened.value_or(0)};
    const bool is_like_others = job.active == 0 && opened;
    const auto known = is_like_others ? known_.find(question) : known_.end();
    if (known != known_.end()) {
        const MoveRefusal& refusal = known->second;
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
    MoveRefusal refusal = search.take_refusal();
    result.worth_at = worth_at(view_, job, refusal);
    if (is_like_others) known_[question] = std::move(refusal);
    return result;
}

}  // namespace berth::scheduling
