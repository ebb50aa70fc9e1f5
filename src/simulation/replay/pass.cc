// SPDX-License-Identifier: Apache-2.0
#include "simulation/replay/pass.h"

#include <algorithm>
#include <limits>

#include "simulation/replay/heads.h"
#include "simulation/replay/room.h"

namespace berth::simulation {
namespace {

using reference::JobIndex;

constexpr Ranked kBeforeAll{{.level = std::numeric_limits<std::int64_t>::min()}, 0};

// Who starts is in debt to those behind it for the GPUs that do not idle. A running job stays while
// those behind it hold enough to pay all of the debt.
class PassByCount {
  public:
    PassByCount(const Queues& queues, FromLast& running, FreeGpus& free)
        : heads_(queues), running_(running), free_(free), debt_(-free.count()) {}

    HandOut make() {
        while (!heads_.is_empty()) {
            settle_before(&heads_.first());
            const std::int32_t wanted = debt_ + heads_.ask().gpus;
            if (held_behind(heads_.first(), wanted, running_) >= wanted) {
                result_.started.push_back({heads_.first().job, heads_.ask(), {}});
                debt_ = wanted;
                heads_.served();
            } else {
                heads_.passed_over();
            }
        }
        settle_before(nullptr);
        for (Start& start : result_.started) {
            start.gpus = free_.take(start.ask.gpus, start.ask.stand);
        }
        return std::move(result_);
    }

  private:
    // Goes through the running jobs before `next`, all of them when it is null.
    void settle_before(const Ranked* next) {
        std::int32_t held = 0;  // by those behind
        std::size_t at = 0;
        std::size_t behind_next = 0;
        for (; held < debt_; ++at) {
            const Holder& holder = *running_.behind(kBeforeAll, at);
            if (next && holder.who > *next) behind_next = at + 1;
            held += holder.ask->gpus;
        }
        while (at > behind_next) {
            const Holder& holder = *running_.behind(kBeforeAll, --at);
            held -= holder.ask->gpus;
            if (held >= debt_) continue;
            free_.give_back(*holder.gpus);
            result_.paused.push_back(holder.who.job);
            debt_ -= holder.ask->gpus;
        }
    }

    Heads heads_;
    FromLast& running_;
    FreeGpus& free_;
    std::int32_t debt_;
    HandOut result_;
};

// Who starts takes the very GPUs of others behind it. Their turn comes later: they are paused, and
// start elsewhere if they can.
class PassByNodes {
  public:
    PassByNodes(const Queues& queues, FromLast& running, FreeGpus& free)
        : heads_(queues), running_(running), free_(free), room_(free) {}

    HandOut make() {
        while (!heads_.is_empty() || !in_the_way_.empty()) {
            const auto next = in_the_way_.begin();
            if (heads_.is_empty() || (next != in_the_way_.end() && next->first < heads_.first())) {
                const Holder holder = next->second;
                in_the_way_.erase(next);
                free_.give_back(*holder.gpus);
                result_.paused.push_back(holder.who.job);
                try_start(holder.who, *holder.ask);
            } else if (try_start(heads_.first(), heads_.ask())) {
                heads_.served();
            } else {
                heads_.passed_over();
            }
        }
        for (const Start& start : result_.started) free_.take_these(start.gpus);
        return std::move(result_);
    }

  private:
    bool try_start(const Ranked& who, const Ask& ask) {
        GpuList place = room_.take(ask.gpus, ask.stand, [&](std::size_t at) {
            const Holder* holder = running_.behind(who, at);
            return holder ? holder->gpus : nullptr;
        });
        if (place.empty()) return false;
        std::ptrdiff_t held =
            std::ranges::count_if(place, [&](std::int32_t gpu) { return !free_.is_free(gpu); });
        for (std::size_t at = 0; held > 0; ++at) {
            const Holder* holder = running_.behind(who, at);
            const auto lost = std::ranges::count_if(*holder->gpus, [&](std::int32_t gpu) {
                return std::ranges::find(place, gpu) != place.end();
            });
            if (lost > 0) in_the_way_.try_emplace(holder->who, *holder);
            held -= lost;
        }
        result_.started.push_back({who.job, ask, std::move(place)});
        return true;
    }

    Heads heads_;
    FromLast& running_;
    FreeGpus& free_;
    Room room_;
    std::map<Ranked, Holder> in_the_way_;
    HandOut result_;
};

}  // namespace

std::int32_t held_behind(const Ranked& first, std::int32_t enough, FromLast& running) {
    std::int32_t gpus = 0;
    for (std::size_t at = 0; gpus < enough; ++at) {
        const Holder* holder = running.behind(first, at);
        if (!holder) break;
        gpus += holder->ask->gpus;
    }
    return gpus;
}

HandOut pass_by_count(const Queues& queues, FromLast& running, FreeGpus& free) {
    return PassByCount(queues, running, free).make();
}

HandOut pass_by_nodes(const Queues& queues, FromLast& running, FreeGpus& free) {
    return PassByNodes(queues, running, free).make();
}

}  // namespace berth::simulation
