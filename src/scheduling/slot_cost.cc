// SPDX-License-Identifier: Apache-2.0
#include "scheduling/slot_cost.h"

#include <algorithm>
#include <array>
#include <bit>
#include <tuple>

namespace berth::scheduling {
namespace {

// A node's free amounts, as if the pieces taken so far had left.
struct Room {
    std::array<std::int32_t, model::kGpusPerNodeMax> gpu{};
    std::int64_t cpu = 0;
    std::int64_t memory = 0;

    void add(const model::TaskPlacement& task) {
        for (std::uint64_t mask = task.gpu_mask; mask != 0; mask &= mask - 1) {
            gpu[static_cast<std::size_t>(std::countr_zero(mask))] +=
                static_cast<std::int32_t>(task.share.value);
        }
        cpu += task.cpu.value;
        memory += task.memory.value;
    }
};

class SlotSearch {
  public:
    SlotSearch(const Hunt& hunt, ReclaimLedger& ledger, const std::vector<bool>& is_chosen,
               NodeId node)
        : hunt_(hunt), pieces_(hunt.pieces), is_chosen_(is_chosen), node_(node), ledger_(ledger) {
        const PoolView& view = hunt.view;
        const cluster::NodeState& state = view.cluster.nodes()[node.index()];
        const ShapeId shape = hunt.beneficiary.job.shape;
        gpus_ = state.gpus;
        for (int gpu = 0; gpu < gpus_; ++gpu) {
            room_.gpu[static_cast<std::size_t>(gpu)] =
                static_cast<std::int32_t>(view.cluster.free(View::Coming, node, gpu).value);
        }
        room_.cpu = state.cpu.free(View::Coming);
        room_.memory = state.memory.free(View::Coming);
        counts_cpu_ = state.cpu.capacity != cluster::kUnaccounted;
        counts_memory_ = state.memory.capacity != cluster::kUnaccounted;
        need_gpus_ = view.cluster.shape(shape).request.gpus;
        need_share_ = static_cast<std::int32_t>(view.cluster.share_on(shape, node).value);
        need_cpu_ = view.cluster.cpu_on(shape, node);
        need_memory_ = view.cluster.memory_on(shape, node);
        is_allowed_ =
            state.is_ready && view.cluster.allows(shape, state.kind) && state.pool == view.pool;
        if (is_allowed_) collect_candidates();
    }

    SlotCost run() {
        if (!is_allowed_) return {};
        // Room if everything from a candidate onwards left: what cannot be reached is cut off.
        reachable_.assign(candidates_.size() + 1, Room{});
        for (std::size_t i = candidates_.size(); i-- > 0;) {
            reachable_[i] = reachable_[i + 1];
            add_here(reachable_[i], candidates_[i]);
        }
        descend(0, room_, 0, 0);
        return best_;
    }

  private:
    // Cheapest first; ties in the order of projects, then in victim order.
    void collect_candidates() {
        std::vector<std::tuple<std::int64_t, ProjectId, std::size_t>> order;
        hunt_.pieces.visit_on(node_, [&](std::size_t piece) {
            if (is_taken_before(piece) || !hunt_.may_take(piece)) return;
            order.emplace_back(hunt_.cost(piece), pieces_[piece].project, piece);
        });
        std::ranges::sort(order);
        for (const auto& [cost, project, piece] : order) candidates_.push_back(piece);
    }

    bool is_taken_before(std::size_t piece) const {
        return piece < is_chosen_.size() && is_chosen_[piece];
    }

    void add_here(Room& room, std::size_t piece) const {
        for (const auto& task : pieces_[piece].tasks) {
            if (task.node == node_) room.add(task);
        }
    }

    bool fits(const Room& room, const Room* more = nullptr) const {
        int gpus = 0;
        for (std::size_t gpu = 0; gpu < static_cast<std::size_t>(gpus_); ++gpu) {
            gpus += room.gpu[gpu] + (more != nullptr ? more->gpu[gpu] : 0) >= need_share_;
        }
        const auto enough = [&](bool counts, std::int64_t have, std::int64_t extra,
                                std::int64_t need) { return !counts || have + extra >= need; };
        return gpus >= need_gpus_ &&
               enough(counts_cpu_, room.cpu, more != nullptr ? more->cpu : 0, need_cpu_) &&
               enough(counts_memory_, room.memory, more != nullptr ? more->memory : 0,
                      need_memory_);
    }

    // The unchosen pieces of the same job that must go first, and the piece itself.
    std::vector<std::size_t> with_surplus(std::size_t piece) const {
        std::vector<std::size_t> all;
        for (std::size_t i = pieces_.first_of_job(piece); i <= piece; ++i) {
            const bool is_taken = std::ranges::find(taken_, i) != taken_.end();
            if (!is_taken_before(i) && !is_taken) all.push_back(i);
        }
        return all;
    }

    void descend(std::size_t next, const Room& room, std::int64_t cost, int jobs) {
        if (best_.is_possible && std::pair(cost, jobs) >= std::pair(best_.cost, best_.jobs)) {
            return;
        }
        if (fits(room)) {
            best_ = {true, cost, jobs, taken_};
            return;
        }
        if (next == candidates_.size() || ++steps_ > kSlotSteps) return;
        if (!fits(room, &reachable_[next])) return;
        take_and_descend(next, room, cost, jobs);
        descend(next + 1, room, cost, jobs);
    }

    void take_and_descend(std::size_t next, const Room& room, std::int64_t cost, int jobs) {
        const std::size_t piece = candidates_[next];
        const std::vector<std::size_t> all = with_surplus(piece);
        if (all.empty() || all.back() != piece) {
            descend(next + 1, room, cost, jobs);  // already taken along with a later piece
            return;
        }
        Room more = room;
        std::size_t done = 0;
        for (; done < all.size(); ++done) {
            const Piece& one = pieces_[all[done]];
            if (hunt_.asks_ledger() && !ledger_.may_take(one.project, one.gpus)) break;
            if (hunt_.asks_ledger()) ledger_.take(one.project, one.gpus);
            taken_.push_back(all[done]);
            cost += hunt_.cost(all[done]);
            add_here(more, all[done]);
        }
        if (done == all.size()) descend(next + 1, more, cost, jobs + 1);
        for (; done > 0; --done) {
            const Piece& one = pieces_[taken_.back()];
            if (hunt_.asks_ledger()) ledger_.give_back(one.project, one.gpus);
            taken_.pop_back();
        }
    }

    const Hunt& hunt_;
    const PieceTable& pieces_;
    const std::vector<bool>& is_chosen_;
    NodeId node_;
    ReclaimLedger& ledger_;  // as before after the search
    bool is_allowed_ = false;
    int gpus_ = 0;
    Room room_;
    bool counts_cpu_ = false;
    bool counts_memory_ = false;
    int need_gpus_ = 0;
    std::int32_t need_share_ = 0;
    std::int64_t need_cpu_ = 0;
    std::int64_t need_memory_ = 0;
    std::vector<std::size_t> candidates_;
    std::vector<Room> reachable_;
    std::vector<std::size_t> taken_;
    SlotCost best_;
    int steps_ = 0;
};

}  // namespace

SlotCost cheapest_slot(const Hunt& hunt, ReclaimLedger& ledger, const std::vector<bool>& is_chosen,
                       NodeId node) {
    return SlotSearch(hunt, ledger, is_chosen, node).run();
}

}  // namespace berth::scheduling
