// SPDX-License-Identifier: Apache-2.0
#include "simulation/replay/share.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "simulation/replay/heads.h"
#include "simulation/replay/room.h"

namespace berth::simulation {
namespace {

using reference::JobIndex;
using reference::Order;

// What all of a group gain by one more, as part of a job that runs alone. Beside free GPUs a job
// shares only while more is asked than there is, and only for more. Chosen on Muri's traces 1
// and 3.
constexpr Speed kGainMin = kFullSpeed / 10;
constexpr Speed kGainBesideFree = kFullSpeed * 3 / 10;

class SharedPass {
  public:
    SharedPass(const Queues& queues, std::vector<Holder> running, Order::OrderTraits traits,
               Mixes& mixes, FreeGpus& free)
        : heads_(queues),
          running_(std::move(running)),
          traits_(traits),
          mixes_(mixes),
          free_(free),
          by_count_(free.placement() == Placement::Count),
          left_(free.machines().gpus()),
          room_(free) {
        std::ranges::sort(running_, {}, &Holder::who);
        std::int64_t asked = 0;
        for (const Holder& holder : running_) asked += holder.ask->gpus;
        for (const auto& [ask, queue] : queues) asked += ask.gpus * std::ssize(queue);
        crowded_ = asked > left_;
        for (const Holder& holder : running_) {
            if (was_.try_emplace(holder.group).second) turns_.push_back(holder.gpus);
        }
    }

    HandOut make() {
        auto next = running_.begin();
        while (next != running_.end() || !heads_.is_empty()) {
            if (heads_.is_empty() || (next != running_.end() && is_before_heads(*next))) {
                keep_or_pause(*next++);
            } else if (place(heads_.first().job, heads_.ask())) {
                heads_.served();
            } else {
                do heads_.passed_over();
                while (traits_.first_blocks && !heads_.is_empty());
            }
        }
        part_where_free();
        return result();
    }

  private:
    struct Group {
        std::int32_t width = 0;
        Mixes::Mix mix = Mixes::kEmpty;
        GpuList gpus{};  // by Nodes, when it is new
        std::vector<JobIndex> members{};
    };
    struct Was {
        bool had_its_turn = false;
        std::optional<std::size_t> now;  // in groups_
    };
    struct Guest {
        JobIndex job;
        Ask ask;
        std::size_t group;
    };

    bool is_before_heads(const Holder& holder) const {
        return !traits_.pauses || holder.who < heads_.first();
    }

    void add(Group& group, JobIndex job, Mixes::Mix mix) {
        group.members.push_back(job);
        group.mix = mix;
    }

    void keep_or_pause(const Holder& holder) {
        Was& was = was_.at(holder.group);
        const bool is_first = !std::exchange(was.had_its_turn, true);
        if (is_first) ++turns_over_;
        if (was.now) {
            Group& group = groups_[*was.now];
            const Mixes::Mix mix = mixes_.with(group.mix, holder.ask->kind);
            if (mix != Mixes::kRefused && mixes_.total(mix) > mixes_.total(group.mix)) {
                add(group, holder.who.job, mix);
                guests_.push_back({holder.who.job, *holder.ask, *was.now});
                return;
            }
        } else if (by_count_ ? holder.ask->gpus <= left_ : room_.is_open(*holder.gpus)) {
            was.now = groups_.size();
            left_ -= holder.ask->gpus;
            Group group{.width = holder.ask->gpus};
            add(group, holder.who.job, mixes_.with(Mixes::kEmpty, holder.ask->kind));
            groups_.push_back(std::move(group));
            return;
        }
        if (is_first) free_.give_back(*holder.gpus);
        paused_.push_back(holder.who.job);
        place(holder.who.job, *holder.ask);
    }

    bool place(JobIndex job, const Ask& ask) {
        return (crowded_ && join(job, ask, kGainBesideFree)) || open(job, ask) ||
               join(job, ask, kGainMin);
    }

    bool open(JobIndex job, const Ask& ask) {
        if (ask.gpus > left_) return false;
        GpuList place;
        if (!by_count_ && (place = room_.take(ask.gpus, ask.stand, behind_)).empty()) return false;
        left_ -= ask.gpus;
        Group group{.width = ask.gpus, .gpus = std::move(place)};
        add(group, job, mixes_.with(Mixes::kEmpty, ask.kind));
        groups_.push_back(std::move(group));
        started_.push_back({job, ask, groups_.size() - 1});
        return true;
    }

    bool join(JobIndex job, const Ask& ask, Speed least) {
        std::optional<std::size_t> best;
        Mixes::Mix best_mix = Mixes::kRefused;
        Speed best_gain = least;
        for (std::size_t at = 0; at < groups_.size(); ++at) {
            if (groups_[at].width != ask.gpus) continue;
            const Mixes::Mix mix = mixes_.with(groups_[at].mix, ask.kind);
            if (mix == Mixes::kRefused) continue;
            const Speed gain = mixes_.total(mix) - mixes_.total(groups_[at].mix);
            if (gain <= best_gain) continue;
            best = at;
            best_mix = mix;
            best_gain = gain;
        }
        if (!best) return false;
        add(groups_[*best], job, best_mix);
        guests_.push_back({job, ask, *best});
        started_.push_back({job, ask, *best});
        return true;
    }

    void part_where_free();
    HandOut result();

    bool crowded_ = false;
    Heads heads_;
    std::vector<Holder> running_;
    Order::OrderTraits traits_;
    Mixes& mixes_;
    FreeGpus& free_;
    bool by_count_;
    std::int32_t left_;
    Room room_;  // unless by Count
    std::map<std::size_t, Was> was_;
    std::vector<const GpuList*> turns_;  // of groups: the first of its members has it
    std::size_t turns_over_ = 0;
    const Room::Behind behind_ = [this](std::size_t at) {
        return at < turns_.size() - turns_over_ ? turns_[turns_.size() - 1 - at] : nullptr;
    };
    std::vector<Group> groups_;
    std::vector<Guest> guests_;
    std::vector<Guest> started_;
    std::vector<JobIndex> paused_;
};

void SharedPass::part_where_free() {
    for (const Guest& guest : guests_) {
        if (left_ < guest.ask.gpus) continue;
        GpuList place;
        if (!by_count_ && (place = room_.take(guest.ask.gpus, guest.ask.stand, behind_)).empty()) {
            continue;
        }
        left_ -= guest.ask.gpus;
        std::erase(groups_[guest.group].members, guest.job);
        Group group{.width = guest.ask.gpus, .gpus = std::move(place)};
        add(group, guest.job, mixes_.with(Mixes::kEmpty, guest.ask.kind));
        groups_.push_back(std::move(group));
        const auto starts = std::ranges::find(started_, guest.job, &Guest::job);
        if (starts != started_.end()) {
            starts->group = groups_.size() - 1;
        } else {
            paused_.push_back(guest.job);
            started_.push_back({guest.job, guest.ask, groups_.size() - 1});
        }
    }
}

HandOut SharedPass::result() {
    HandOut result;
    for (Guest& start : started_) {
        Group& group = groups_[start.group];
        Start one{.job = start.job, .ask = start.ask, .gpus = {}};
        if (group.members.front() != start.job) {
            one.beside = group.members.front();
        } else if (by_count_) {
            one.gpus = free_.take(start.ask.gpus, start.ask.stand);
        } else {
            free_.take_these(group.gpus);
            one.gpus = group.gpus;
        }
        result.started.push_back(std::move(one));
    }
    result.paused = std::move(paused_);
    return result;
}

}  // namespace

HandOut share(const Queues& queues, std::vector<Holder> running, Order::OrderTraits traits,
              Mixes& mixes, FreeGpus& free) {
    return SharedPass(queues, std::move(running), traits, mixes, free).make();
}

}  // namespace berth::simulation
