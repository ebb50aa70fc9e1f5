// SPDX-License-Identifier: Apache-2.0
#include "simulation/hand_out.h"

#include <algorithm>
#include <optional>

#include "simulation/heads.h"
#include "simulation/room.h"

namespace berth::simulation {
namespace {

using ordering::Ticket;

std::int32_t width(const Holder& holder) { return holder.ask->gpus; }

// GPUs held by running jobs behind `first`.
std::int32_t held_behind(const Ranked& first, const std::vector<Holder>& running) {
    std::int32_t gpus = 0;
    for (const Holder& holder : running) {
        if (holder.who > first) gpus += width(holder);
    }
    return gpus;
}

// One pass over all in order of rank, as if nobody held anything yet.
class Pass {
  public:
    Pass(const Queues& queues, std::vector<Holder> running, FreeGpus& free)
        : heads_(queues),
          running_(std::move(running)),
          free_(free),
          by_count_(free.placement() == Placement::Count),
          left_(free.machines().gpus()),
          room_(by_count_ ? Machines{} : free.machines()) {
        // All before the first who waits stay: nobody else takes anything before them.
        const auto stays = [&](const Holder& one) { return one.who < heads_.first(); };
        const auto behind = std::ranges::partition(running_, stays);
        std::ranges::sort(behind, {}, &Holder::who);
        for (std::size_t turn = 0; turn < running_.size() && !by_count_; ++turn) {
            room_.occupy(*running_[turn].gpus, static_cast<std::int32_t>(turn));
        }
    }

    HandOut make() {
        auto next = running_.begin();
        while (left_ > 0 && (next != running_.end() || !heads_.is_empty())) {
            if (heads_.is_empty() || (next != running_.end() && next->who < heads_.first())) {
                keep_or_pause(*next++);
            } else if (try_start(heads_.first().job, heads_.ask())) {
                heads_.served();
            } else {
                heads_.passed_over();
            }
        }
        for (; next != running_.end(); ++next) pause(*next);
        for (Start& start : result_.started) {
            if (by_count_) {
                start.gpus = free_.take(start.ask.gpus, start.ask.stand);
            } else {
                free_.take_these(start.gpus);
            }
        }
        return std::move(result_);
    }

  private:
    void keep_or_pause(const Holder& holder) {
        const bool stays = by_count_ ? width(holder) <= left_ : room_.keep(*holder.gpus);
        if (stays) {
            left_ -= width(holder);
            return;
        }
        pause(holder);
        if (!by_count_) try_start(holder.who.job, *holder.ask);
    }

    void pause(const Holder& holder) {
        free_.give_back(*holder.gpus);
        if (!by_count_) room_.vacate(*holder.gpus);
        result_.paused.push_back(holder.who.job);
    }

    bool try_start(Ticket job, const Ask& ask) {
        if (ask.gpus > left_) return false;
        GpuList place;
        if (!by_count_ && (place = room_.take(ask.gpus, ask.stand)).empty()) return false;
        result_.started.push_back({job, ask, std::move(place)});
        left_ -= ask.gpus;
        return true;
    }

    Heads heads_;
    std::vector<Holder> running_;
    FreeGpus& free_;
    bool by_count_;
    std::int32_t left_;
    Room room_;  // by Nodes
    HandOut result_;
};

}  // namespace

HandOut hand_out(const Queues& queues, const std::function<std::vector<Holder>()>& running,
                 ordering::Order::Habits habits, FreeGpus& free) {
    HandOut result;
    std::optional<std::vector<Holder>> holders;
    for (Heads heads(queues); !heads.is_empty();) {
        const Ask ask = heads.ask();
        GpuList place = free.take(ask.gpus, ask.stand);
        if (!place.empty()) {
            result.started.push_back({heads.first().job, ask, std::move(place)});
            heads.served();
            continue;
        }
        if (habits.first_blocks) break;
        if (habits.pauses) {
            if (!holders) holders = running();
            if (free.count() + held_behind(heads.first(), *holders) >= ask.gpus) {
                for (const Start& start : result.started) free.give_back(start.gpus);
                return Pass(queues, std::move(*holders), free).make();
            }
        }
        heads.passed_over();
    }
    return result;
}

}  // namespace berth::simulation
