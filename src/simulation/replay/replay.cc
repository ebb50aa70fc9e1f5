// SPDX-License-Identifier: Apache-2.0
#include "simulation/replay/replay.h"

#include <algorithm>
#include <queue>

#include "simulation/replay/hand_out.h"
#include "simulation/replay/share.h"

namespace berth::simulation {
namespace {

using reference::JobIndex;
using reference::JobSnapshot;
using reference::kNever;
using reference::Order;
using reference::OrderEvent;

constexpr Speed kNearlyAll = kFullSpeed * 95 / 100;  // of 0.7 to 1 the best on half of the traces

// A millisecond at full speed is kFullSpeed of them.
using Work = std::int64_t;

// A job that was submitted and has not ended.
struct Live {
    bool runs = false;
    bool waits = false;
    TimePoint since;  // it runs, or waits
    Duration held{};  // before `since`
    Work left = 0;  // at `counted`
    TimePoint counted;  // from when on it has gone at this speed
    Duration restart{};  // still to come at `counted`, before it makes progress
    Speed speed = 0;
    bool starts = false;  // at `counted`
    TimePoint end_at = kNever;  // the one end and the one change that are awaited:
    TimePoint change_at = kNever;  // other wake-ups are void
    // In its queue, while it waits, or among those that run.
    reference::Rank rank;
    bool is_ranked = false;  // among those that run
    std::size_t group = 0;  // while it runs
};

// Those who hold the same GPUs.
struct Group {
    GpuList gpus;
    std::vector<JobIndex> members;
    std::size_t model = 0;
    bool is_spread = false;  // over more nodes than needed
};

struct WakeUp {
    TimePoint at;
    JobIndex job = 0;
    bool is_end = false;

    auto operator<=>(const WakeUp&) const = default;
};

class Player {
  public:
    Player(const Experiment& experiment, Order& order)
        : trace_(experiment.trace),
          experiment_(experiment),
          order_(order),
          traits_(order.traits()),
          ranks_stay_(!traits_.is_in_flow && !traits_.looks_at_every_event),
          mixes_(experiment.trace, experiment.packing, experiment.speeds),
          free_(experiment.machines, experiment.placement),
          live_(experiment.trace.size()) {
        result_.jobs.resize(trace_.size());
        for (std::size_t at = 0; at < trace_.size(); ++at) {
            const Mixes::Kind kind = mixes_.kind(at);
            asks_.push_back({trace_[at].gpus, experiment.stand(mixes_.spread(kind)),
                             kinds_matter() ? kind : 0});
        }
    }

    Replay play(const OnProgress& on_progress) {
        while (go_to_next_moment()) {
            take_in();
            carry_out(decide());
            adjust_speeds();
            remember();
            ++result_.events;
            if (on_progress) on_progress({finished_, now_});
        }
        return std::move(result_);
    }

  private:
    bool has_several_models() const { return experiment_.machines.models().size() > 1; }
    bool kinds_matter() const {
        return experiment_.packing != Packing::None || has_several_models();
    }
    static std::size_t index(JobIndex ticket) { return static_cast<std::size_t>(ticket); }
    const TraceJob& job(JobIndex ticket) const { return trace_[index(ticket)]; }
    Live& live(JobIndex ticket) { return live_[index(ticket)]; }
    const Live& live(JobIndex ticket) const { return live_[index(ticket)]; }
    JobRecord& record(JobIndex ticket) { return result_.jobs[index(ticket)]; }

    JobSnapshot standing(JobIndex ticket) const;
    Work left_now(const Live& one) const {
        if (!one.runs) return one.left;
        return one.left -
               std::max(now_ - one.counted - one.restart, Duration{}).count() * one.speed;
    }
    const Ask& ask(JobIndex ticket) const { return asks_[index(ticket)]; }
    Holder holder(reference::Rank rank, JobIndex ticket) const;
    std::vector<Holder> holders() const;
    FromLast from_last();
    HandOut decide();

    bool go_to_next_moment();
    bool is_void(const WakeUp& wake_up) const {
        const Live& one = live(wake_up.job);
        return wake_up.at != (wake_up.is_end ? one.end_at : one.change_at);
    }
    std::optional<WakeUp> next_wake_up();
    void await_change(JobIndex ticket);
    void await_change(JobIndex ticket, TimePoint at);

    void take_in();
    void arrive(JobIndex ticket);
    void change(JobIndex ticket);
    void end(JobIndex ticket);
    void move_in_queues();

    void carry_out(HandOut result);
    void start(Start& start);
    void leave(JobIndex ticket);
    void count(JobIndex ticket);
    void adjust_speeds();
    std::size_t open_group(GpuList gpus);
    bool can_ever_run(JobIndex ticket) const;
    void enqueue(JobIndex ticket);
    void dequeue(JobIndex ticket);
    void rank_among_running(JobIndex ticket, reference::Rank rank);
    void unrank(JobIndex ticket);
    void ask_anew(JobIndex ticket);
    void remember();

    const Trace& trace_;
    const Experiment& experiment_;
    Order& order_;
    const Order::OrderTraits traits_;
    const bool ranks_stay_;  // of running jobs, save when it notices

    TimePoint now_;
    std::size_t next_arrival_ = 0;
    std::priority_queue<WakeUp, std::vector<WakeUp>, std::greater<>> wake_ups_;
    std::vector<JobIndex> ending_;  // now
    std::vector<JobIndex> changing_;  // now
    TimePoint common_change_ = kNever;  // of an order that looks at every event

    Mixes mixes_;
    FreeGpus free_;
    std::vector<Ask> asks_;
    std::vector<Live> live_;
    std::vector<Group> groups_;
    std::vector<std::size_t> closed_groups_;  // without members
    std::vector<std::size_t> changed_groups_;  // since their speeds were last looked at
    std::vector<JobIndex> running_;  // in order of submission
    std::set<Ranked> running_by_rank_;  // where ranks stay
    Queues queues_;
    std::int32_t waiting_ = 0;
    std::size_t finished_ = 0;
    Replay result_;
};

bool Player::can_ever_run(JobIndex ticket) const {
    const auto models = experiment_.machines.models();
    for (std::size_t model = 0; model < models.size(); ++model) {
        const bool is_wide_enough = models[model].gpus() >= job(ticket).gpus;
        if (is_wide_enough && mixes_.alone(mixes_.kind(index(ticket)), model, false) > 0)
            return true;
    }
    return false;
}

JobSnapshot Player::standing(JobIndex ticket) const {
    const Live& one = live(ticket);
    const auto& first_start = result_.jobs[index(ticket)].first_start;
    return {.job = ticket,
            .gpus = job(ticket).gpus,
            .runs = one.runs,
            .submitted = job(ticket).submitted,
            .first_start = first_start ? *first_start : kNever,
            .now = now_,
            .held = one.held + (one.runs ? now_ - one.since : Duration{}),
            .left = Duration{(left_now(one) + kFullSpeed - 1) / kFullSpeed}};
}

Holder Player::holder(reference::Rank rank, JobIndex ticket) const {
    const std::size_t group = live(ticket).group;
    return {{rank, ticket}, &ask(ticket), &groups_[group].gpus, group};
}

std::vector<Holder> Player::holders() const {
    std::vector<Holder> all;
    all.reserve(running_.size());
    for (const JobIndex ticket : running_) {
        all.push_back(holder(order_.rank(standing(ticket)), ticket));
    }
    return all;
}

FromLast Player::from_last() {
    if (ranks_stay_) {
        return FromLast([this, seen = running_by_rank_.end()](const Ranked& first) mutable {
            std::optional<Holder> one;
            if (seen != running_by_rank_.begin() && *std::prev(seen) > first) {
                --seen;
                one = holder(seen->rank, seen->job);
            }
            return one;
        });
    }
    std::vector<Holder> heap = holders();
    std::ranges::make_heap(heap, {}, &Holder::who);
    return FromLast([heap = std::move(heap)](const Ranked& first) mutable {
        std::optional<Holder> one;
        if (heap.empty() || heap.front().who < first) return one;
        std::ranges::pop_heap(heap, {}, &Holder::who);
        one = heap.back();
        heap.pop_back();
        return one;
    });
}

HandOut Player::decide() {
    if (has_several_models()) {
        return choose_models(queues_, holders(), traits_, mixes_, experiment_.models, free_);
    }
    if (experiment_.packing == Packing::None) {
        return hand_out(queues_, [&] { return from_last(); }, traits_, free_);
    }
    return share(queues_, holders(), traits_, mixes_, free_);
}

std::optional<WakeUp> Player::next_wake_up() {
    for (; !wake_ups_.empty(); wake_ups_.pop()) {
        if (!is_void(wake_ups_.top())) return wake_ups_.top();
    }
    return std::nullopt;
}

// False when nothing will happen any more.
bool Player::go_to_next_moment() {
    TimePoint next = common_change_;
    if (next_arrival_ < trace_.size()) next = std::min(next, trace_[next_arrival_].submitted);
    if (const auto first = next_wake_up()) next = std::min(next, first->at);
    for (auto due = next_wake_up(); due && due->at <= next; due = next_wake_up()) {
        wake_ups_.pop();
        (due->is_end ? live(due->job).end_at : live(due->job).change_at) = kNever;
        (due->is_end ? ending_ : changing_).push_back(due->job);
    }
    now_ = next;
    return next != kNever;
}

void Player::await_change(JobIndex ticket, TimePoint at) {
    if (at == live(ticket).change_at) return;
    live(ticket).change_at = at;
    if (at != kNever) wake_ups_.push({at, ticket, false});
}

void Player::await_change(JobIndex ticket) {
    if (traits_.looks_at_every_event) return;
    await_change(ticket, order_.next_change(standing(ticket)));
}

// All that happens now: ends, submissions, changes of rank.
void Player::take_in() {
    for (const JobIndex ticket : std::exchange(ending_, {})) end(ticket);
    for (; next_arrival_ < trace_.size() && trace_[next_arrival_].submitted <= now_;
         ++next_arrival_) {
        arrive(static_cast<JobIndex>(next_arrival_));
    }
    if (traits_.looks_at_every_event) changing_ = running_;
    for (const JobIndex ticket : std::exchange(changing_, {})) change(ticket);
    move_in_queues();
}

void Player::arrive(JobIndex ticket) {
    live(ticket).left = job(ticket).work.count() * kFullSpeed;
    live(ticket).since = now_;
    order_.notice(OrderEvent::Submitted, standing(ticket));
    enqueue(ticket);
    await_change(ticket);
}

void Player::change(JobIndex ticket) {
    if (record(ticket).end) return;
    order_.notice(OrderEvent::Changed, standing(ticket));
    ask_anew(ticket);
}

void Player::end(JobIndex ticket) {
    const Group& group = groups_[live(ticket).group];
    if (group.members.size() == 1) free_.give_back(group.gpus);
    leave(ticket);
    record(ticket).end = now_;
    ++finished_;
    order_.notice(OrderEvent::Finished, standing(ticket));
}

// Others' doings moved jobs.
void Player::move_in_queues() {
    if (!order_.all_moved()) return;
    std::vector<JobIndex> all = running_;
    for (const auto& [ask, queue] : queues_) {
        for (const Ranked& one : queue) all.push_back(one.job);
    }
    for (const JobIndex ticket : all) ask_anew(ticket);
}

void Player::carry_out(HandOut result) {
    std::vector<JobIndex> started;
    for (const JobIndex ticket : result.paused) {
        leave(ticket);
        ++record(ticket).pauses;
    }
    for (Start& one : result.started) {
        started.push_back(one.job);
        start(one);
    }
    order_.settle(started, result.paused);
    for (const JobIndex ticket : result.paused) {
        if (!live(ticket).runs) enqueue(ticket);
        if (live(ticket).runs) ++record(ticket).moves;
        await_change(ticket);
    }
    for (const JobIndex ticket : started) {
        rank_among_running(ticket, order_.rank(standing(ticket)));
        await_change(ticket);
    }
}

void Player::start(Start& start) {
    Live& one = live(start.job);
    if (one.waits) dequeue(start.job);
    JobRecord& known = record(start.job);
    one.restart = known.first_start ? experiment_.restart_cost : Duration{};
    if (!known.first_start) known.first_start = now_;
    one.runs = true;
    one.starts = true;
    one.since = now_;
    one.counted = now_;
    one.speed = 0;
    one.change_at = kNever;
    one.group = start.beside == Start::kNobody ? open_group(std::move(start.gpus))
                                               : live(start.beside).group;
    groups_[one.group].members.push_back(start.job);
    changed_groups_.push_back(one.group);
    running_.insert(std::ranges::lower_bound(running_, start.job), start.job);
}

std::size_t Player::open_group(GpuList gpus) {
    if (closed_groups_.empty()) {
        closed_groups_.push_back(groups_.size());
        groups_.emplace_back();
    }
    const std::size_t number = closed_groups_.back();
    closed_groups_.pop_back();
    groups_[number] = {.gpus = std::move(gpus), .members = {}};
    groups_[number].model = experiment_.machines.model_of(groups_[number].gpus.front());
    groups_[number].is_spread = is_spread(groups_[number].gpus, experiment_.machines);
    return number;
}

// It stops running, paused or at its end; its GPUs are given back by others.
void Player::leave(JobIndex ticket) {
    Live& one = live(ticket);
    unrank(ticket);
    count(ticket);
    one.held += now_ - one.since;
    record(ticket).held = one.held;
    one.runs = false;
    one.since = now_;
    one.end_at = kNever;
    one.change_at = kNever;
    std::erase(groups_[one.group].members, ticket);
    changed_groups_.push_back(one.group);
    if (groups_[one.group].members.empty()) closed_groups_.push_back(one.group);
    running_.erase(std::ranges::lower_bound(running_, ticket));
}

// Ends an interval at one speed; the job runs on.
void Player::count(JobIndex ticket) {
    Live& one = live(ticket);
    const GpuList& gpus = groups_[one.group].gpus;
    result_.intervals.push_back({ticket, one.counted, now_, result_.gpus.size(), one.starts});
    result_.gpus.insert(result_.gpus.end(), gpus.begin(), gpus.end());
    one.left = left_now(one);
    one.restart -= std::min(one.restart, now_ - one.counted);
    one.counted = now_;
    one.starts = false;
}

// After jobs have come and gone: how fast are those who share GPUs with them, when will they end?
void Player::adjust_speeds() {
    for (const std::size_t number : changed_groups_) {
        const Group& group = groups_[number];
        if (group.members.empty()) continue;
        std::vector<Mixes::Kind> kinds;
        for (const JobIndex ticket : group.members) kinds.push_back(mixes_.kind(index(ticket)));
        const Mixes::Mix mix = mixes_.of(std::move(kinds));
        for (const JobIndex ticket : group.members) {
            Live& one = live(ticket);
            const Mixes::Kind kind = mixes_.kind(index(ticket));
            const Speed alone = mixes_.alone(kind, group.model, group.is_spread);
            const Speed speed = mixes_.speed(mix, kind) * alone / kFullSpeed;
            if (speed == one.speed) continue;
            if (one.counted != now_) count(ticket);
            one.speed = speed;
            one.end_at = now_ + one.restart + Duration{(one.left + speed - 1) / speed};
            wake_ups_.push({one.end_at, ticket, true});
        }
    }
    changed_groups_.clear();
}

void Player::enqueue(JobIndex ticket) {
    if (!can_ever_run(ticket)) return;
    Live& one = live(ticket);
    one.waits = true;
    one.rank = order_.rank(standing(ticket));
    queues_[ask(ticket)].insert({one.rank, ticket});
    ++waiting_;
}

void Player::dequeue(JobIndex ticket) {
    live(ticket).waits = false;
    queues_[ask(ticket)].erase({live(ticket).rank, ticket});
    --waiting_;
}

void Player::rank_among_running(JobIndex ticket, reference::Rank rank) {
    if (!ranks_stay_ || !traits_.pauses) return;
    Live& one = live(ticket);
    if (one.is_ranked && one.rank == rank) return;
    unrank(ticket);
    one.rank = rank;
    one.is_ranked = running_by_rank_.insert({rank, ticket}).second;
}

void Player::unrank(JobIndex ticket) {
    if (live(ticket).is_ranked) running_by_rank_.erase({live(ticket).rank, ticket});
    live(ticket).is_ranked = false;
}

// Its rank and change may be others than they were.
void Player::ask_anew(JobIndex ticket) {
    if (live(ticket).waits) {
        dequeue(ticket);
        enqueue(ticket);
    } else if (live(ticket).runs) {
        rank_among_running(ticket, order_.rank(standing(ticket)));
    }
    await_change(ticket);
}

void Player::remember() {
    common_change_ = kNever;
    if (traits_.looks_at_every_event) {
        for (const JobIndex ticket : running_) {
            common_change_ = std::min(common_change_, order_.next_change(standing(ticket)));
        }
    }
    const Sample sample{now_, base::gpus(experiment_.machines.gpus() - free_.count()), waiting_};
    if (result_.timeline.empty() || !result_.timeline.back().is_like(sample)) {
        result_.timeline.push_back(sample);
    }
}

}  // namespace

Stand Experiment::stand(Speed spread) const {
    if (placement == Placement::Count) return Stand::Anywhere;
    const bool loses = placement == Placement::Nodes || spread < kNearlyAll;
    return loses ? Stand::Together : Stand::Anywhere;
}

Replay replay(const Experiment& experiment, Order& order, const OnProgress& on_progress) {
    return Player(experiment, order).play(on_progress);
}

}  // namespace berth::simulation
