// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims/slot_cost.h"

#include <algorithm>
#include <bit>

#include "cluster/gang.h"

namespace berth::scheduling {
namespace {

using Room = SlotScratch::Room;

class SlotSearch {
  public:
    SlotSearch(const VictimQuery& query, ReclaimLedger& ledger, NodeId node)
        : query_(query),
          units_(query.units),
          is_chosen_(query.scratch.is_chosen),
          node_(node),
          ledger_(ledger),
          candidates_(query.scratch.candidates),
          reachable_(query.scratch.reachable),
          taken_(query.scratch.taken),
          best_(query.scratch.best) {
        const PoolView& view = query.view;
        const cluster::NodeState& state = view.cluster.nodes()[node.index()];
        const ShapeId shape = query.beneficiary.job.shape;
        gpus_ = static_cast<std::size_t>(state.gpus);
        counts_cpu_ = state.cpu.capacity != cluster::kUnaccounted;
        counts_memory_ = state.memory.capacity != cluster::kUnaccounted;
        need_gpus_ = view.cluster.shape(shape).request.gpus;
        const model::GpuPart part = view.cluster.part_on(shape, node);
        need_compute_ = static_cast<std::int32_t>(part.compute.value);
        need_gpu_memory_ = part.memory.value;
        // Whole GPUs that are left are others' first, as many as they lack.
        if (need_gpus_ > 0) owed_ = view.cluster.others().on(node).missing();
        need_gpus_ += owed_;
        need_cpu_ = view.cluster.cpu_on(shape, node);
        need_memory_ = view.cluster.memory_on(shape, node);
        is_allowed_ =
            state.is_ready && view.cluster.allows(shape, state.kind) && state.pool == view.pool;
        const cluster::NodeResources& resources = view.cluster.resources();
        for (const cluster::ResourceAsk& ask : resources.asked(shape)) {
            const bool counts = resources.on(node, ask.resource).capacity != cluster::kUnaccounted;
            if (counts) need_other_[others_++] = ask;
            is_allowed_ &= counts || resources.is_pods(ask.resource);
        }
    }

    void run() {
        best_.is_possible = false;
        best_.cost = {};
        best_.units.clear();
        if (!is_allowed_) return;
        collect_candidates();
        if (!sum_up_reachable()) return;
        taken_.clear();
        descend(0, room_, {});
    }

  private:
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
        const cluster::Cluster& cluster = query_.view.cluster;
        for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
            const int at = static_cast<int>(gpu);
            const MilliGpu compute = cluster.compute_left(View::Coming, node_, at);
            room_.gpu[gpu] = static_cast<std::int32_t>(compute.value);
            if (!counts_gpu_memory()) continue;
            room_.gpu_memory[gpu] = cluster.free_part(View::Coming, node_, at).memory.value;
        }
        const cluster::NodeState& state = cluster.nodes()[node_.index()];
        room_.cpu = state.cpu.free(View::Coming);
        room_.memory = state.memory.free(View::Coming);
        for (std::size_t i = 0; i < others_; ++i) {
            room_.other[i] =
                cluster.resources().on(node_, need_other_[i].resource).free(View::Coming);
        }
        Room all;
        copy(room_, all);
        for (const auto& candidate : candidates_) add_here(all, candidate.unit);
        if (!fits(all)) return false;
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
        reachable_.back() = Room{};
        for (std::size_t i = candidates_.size(); i-- > 0;) {
            copy(reachable_[i + 1], reachable_[i]);
            add_here(reachable_[i], candidates_[i].unit);
        }
        return true;
    }

    bool is_taken_before(std::size_t unit) const {
        return unit < is_chosen_.size() && is_chosen_[unit];
    }

    void add_here(Room& freed, std::size_t unit) const {
        for (const model::TaskPlacement& task : units_[unit].tasks) {
            if (task.node != node_) continue;
            for (std::uint64_t mask = task.gpu_mask; mask != 0; mask &= mask - 1) {
                const auto gpu = static_cast<std::size_t>(std::countr_zero(mask));
                freed.gpu[gpu] += static_cast<std::int32_t>(task.share.value);
                if (counts_gpu_memory()) freed.gpu_memory[gpu] += task.gpu_memory.value;
            }
            freed.cpu += task.cpu.value;
            freed.memory += task.memory.value;
            add_other(freed, units_[unit].job, task.task);
        }
    }

    void add_other(Room& freed, JobId job, int rank) const {
        if (others_ == 0) return;
        const cluster::Cluster& cluster = query_.view.cluster;
        const ShapeId shape = cluster::asked_by(cluster, cluster.job(job).shape, rank);
        for (std::size_t i = 0; i < others_; ++i) {
            freed.other[i] += cluster.resources().asked(shape, need_other_[i].resource);
        }
    }

    // Whole GPUs bring their memory with them.
    bool counts_gpu_memory() const { return need_gpu_memory_ > 0; }
    bool has_memory(const Room& freed, std::size_t gpu, const Room* more) const {
        if (!counts_gpu_memory()) return true;
        const std::int64_t extra = more != nullptr ? more->gpu_memory[gpu] : 0;
        return freed.gpu_memory[gpu] + extra >= need_gpu_memory_;
    }

    // As much as the node has and the task counts.
    void copy(const Room& from, Room& to) const {
        std::copy_n(from.gpu.begin(), gpus_, to.gpu.begin());
        if (counts_gpu_memory()) {
            std::copy_n(from.gpu_memory.begin(), gpus_, to.gpu_memory.begin());
        }
        to.cpu = from.cpu;
        to.memory = from.memory;
        std::copy_n(from.other.begin(), others_, to.other.begin());
    }

    bool has_other(const Room& freed, const Room* more) const {
        for (std::size_t i = 0; i < others_; ++i) {
            const std::int64_t extra = more != nullptr ? more->other[i] : 0;
            if (freed.other[i] + extra < need_other_[i].amount) return false;
        }
        return true;
    }

    int count_fitting(const Room& freed) const {
        int gpus = 0;
        for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
            gpus += freed.gpu[gpu] >= need_compute_ && has_memory(freed, gpu, nullptr);
        }
        return gpus;
    }

    bool fits(const Room& freed, const Room* more = nullptr) const {
        int gpus = 0;
        for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
            const std::int32_t compute = more != nullptr ? more->gpu[gpu] : 0;
            gpus += freed.gpu[gpu] + compute >= need_compute_ && has_memory(freed, gpu, more);
        }
        const auto enough = [&](bool counts, std::int64_t have, std::int64_t extra,
                                std::int64_t need) { return !counts || have + extra >= need; };
        return gpus >= need_gpus_ && has_owed(freed, more) &&
               enough(counts_cpu_, freed.cpu, more != nullptr ? more->cpu : 0, need_cpu_) &&
               enough(counts_memory_, freed.memory, more != nullptr ? more->memory : 0,
                      need_memory_) &&
               has_other(freed, more);
    }

    bool has_owed(const Room& freed, const Room* more) const {
        int whole = 0;
        for (std::size_t gpu = 0; gpu < gpus_ && owed_ > 0; ++gpu) {
            const std::int32_t compute = more != nullptr ? more->gpu[gpu] : 0;
            whole += freed.gpu[gpu] + compute >= base::kWholeGpu.value ? 1 : 0;
        }
        return whole >= owed_;
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

    void descend(std::size_t next, const Room& freed, const Cost& cost) {
        if (is_no_better(cost)) return;
        if (fits(freed)) {
            best_.is_possible = true;
            best_.cost = cost;
            best_.units.clear();
            for (const auto& taken : taken_) best_.units.push_back(taken.unit);
            return;
        }
        if (next == candidates_.size() || ++steps_ > kSlotSteps) return;
        if (is_too_dear(next, need_gpus_ - count_fitting(freed), cost)) return;
        if (!fits(freed, &reachable_[next])) return;
        take_and_descend(next, freed, cost);
        descend(next + 1, freed, cost);
    }

    // Takes the unit and the units of the same job that must go first.
    void take_and_descend(std::size_t next, const Room& freed, Cost cost) {
        const std::size_t unit = candidates_[next].unit;
        if (is_taken(unit)) {
            descend(next + 1, freed, cost);  // already taken along with a later unit
            return;
        }
        Room more;
        copy(freed, more);
        const std::size_t before = taken_.size();
        bool is_legal = true;
        for (std::size_t i = units_.first_of_job(unit); i <= unit && is_legal; ++i) {
            if (is_taken(i)) continue;
            const VictimUnit& victim = units_[i];
            is_legal = !query_.asks_ledger() || ledger_.may_take(victim.project, victim.gpus);
            if (!is_legal) break;
            MilliGpu largest_before{0};
            if (query_.asks_ledger()) largest_before = ledger_.take(victim.project, victim.gpus);
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
            ledger_.give_back(victim.project, victim.gpus, taken_.back().largest_before);
        }
    }

    const VictimQuery& query_;
    const VictimUnits& units_;
    const std::vector<bool>& is_chosen_;
    NodeId node_;
    ReclaimLedger& ledger_;  // as before after the search
    bool is_allowed_ = false;
    std::size_t gpus_ = 0;
    Room room_;
    bool counts_cpu_ = false;
    bool counts_memory_ = false;
    int need_gpus_ = 0;
    int owed_ = 0;  // of them, to others
    std::int32_t need_compute_ = 0;  // of each GPU
    std::int64_t need_gpu_memory_ = 0;
    std::int64_t need_cpu_ = 0;
    std::int64_t need_memory_ = 0;
    std::array<cluster::ResourceAsk, model::kResourcesMax> need_other_;
    std::size_t others_ = 0;  // how many of them
    std::vector<SlotScratch::Candidate>& candidates_;
    std::vector<Room>& reachable_;
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
