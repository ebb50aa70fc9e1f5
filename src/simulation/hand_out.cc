// SPDX-License-Identifier: Apache-2.0
#include "simulation/hand_out.h"

#include <algorithm>
#include <optional>

#include "simulation/room.h"

namespace berth::simulation {
namespace {

using ordering::Ticket;

// The first waiting job of each GPU count that may still fit.
class Heads {
  public:
    explicit Heads(const Queues& queues) {
        for (const auto& [gpus, queue] : queues) {
            if (!queue.empty()) heads_.push_back({gpus, queue.begin(), queue.end()});
        }
        choose();
    }

    bool is_empty() const { return heads_.empty(); }
    const Ranked& first() const { return *heads_[first_].next; }
    std::int32_t gpus() const { return heads_[first_].gpus; }
    // The first one got its GPUs.
    void served() {
        if (++heads_[first_].next == heads_[first_].end) heads_.erase(at_first());
        choose();
    }
    // It does not fit, so no other of its GPU count does.
    void passed_over() {
        heads_.erase(at_first());
        choose();
    }

  private:
    struct Head {
        std::int32_t gpus;
        std::set<Ranked>::const_iterator next, end;
    };

    std::vector<Head>::iterator at_first() {
        return heads_.begin() + static_cast<std::ptrdiff_t>(first_);
    }
    void choose() {
        first_ = 0;
        for (std::size_t at = 1; at < heads_.size(); ++at) {
            if (*heads_[at].next < *heads_[first_].next) first_ = at;
        }
    }

    std::vector<Head> heads_;
    std::size_t first_ = 0;
};

std::int32_t width(const Holder& holder) { return static_cast<std::int32_t>(holder.gpus->size()); }

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
        std::ranges::sort(running_, {}, &Holder::who);
        for (std::size_t turn = 0; turn < running_.size() && !by_count_; ++turn) {
            room_.occupy(*running_[turn].gpus, static_cast<std::int32_t>(turn));
        }
    }

    HandOut make() {
        auto next = running_.begin();
        while (left_ > 0 && (next != running_.end() || !heads_.is_empty())) {
            if (heads_.is_empty() || (next != running_.end() && next->who < heads_.first())) {
                keep_or_pause(*next++);
            } else if (try_start(heads_.first().job, heads_.gpus())) {
                heads_.served();
            } else {
                heads_.passed_over();
            }
        }
        for (; next != running_.end(); ++next) pause(*next);
        for (Start& start : result_.started) {
            if (by_count_) {
                start.gpus = free_.take(start.width);
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
        if (!by_count_) try_start(holder.who.job, width(holder));
    }

    void pause(const Holder& holder) {
        free_.give_back(*holder.gpus);
        if (!by_count_) room_.vacate(*holder.gpus);
        result_.paused.push_back(holder.who.job);
    }

    bool try_start(Ticket job, std::int32_t gpus) {
        if (gpus > left_) return false;
        GpuList place;
        if (!by_count_ && (place = room_.take(gpus)).empty()) return false;
        result_.started.push_back({job, gpus, std::move(place)});
        left_ -= gpus;
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
        const std::int32_t gpus = heads.gpus();
        GpuList place = free.take(gpus);
        if (!place.empty()) {
            result.started.push_back({heads.first().job, gpus, std::move(place)});
            heads.served();
            continue;
        }
        if (habits.first_blocks) break;
        if (habits.pauses) {
            if (!holders) holders = running();
            if (free.count() + held_behind(heads.first(), *holders) >= gpus) {
                for (const Start& start : result.started) free.give_back(start.gpus);
                return Pass(queues, std::move(*holders), free).make();
            }
        }
        heads.passed_over();
    }
    return result;
}

}  // namespace berth::simulation
