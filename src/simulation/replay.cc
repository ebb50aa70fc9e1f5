// SPDX-License-Identifier: Apache-2.0
#include "simulation/replay.h"

#include <algorithm>
#include <queue>

#include "simulation/hand_out.h"

namespace berth::simulation {
namespace {

using ordering::Happening;
using ordering::kNever;
using ordering::Order;
using ordering::Standing;
using ordering::Ticket;

constexpr std::int64_t kEventsBetweenProgress = 4096;

// A job that was submitted and has not ended.
struct Live {
    bool runs = false;
    bool waits = false;
    TimePoint since;         // of this stay, or of this wait
    Duration held{};         // before `since`
    Duration left{};         // work, at `since`
    Duration restart{};      // of this stay, before it makes progress
    std::uint32_t turn = 0;  // rises with each start, pause and end: older wake-ups are void
    TimePoint change_at = kNever;  // the one change that is awaited
    ordering::Rank rank;     // in its queue, while it waits
    GpuList gpus;
};

struct WakeUp {
    TimePoint at;
    Ticket job = 0;
    std::uint32_t turn = 0;
    bool is_end = false;

    auto operator<=>(const WakeUp&) const = default;
};

class Player {
  public:
    Player(const Experiment& experiment, Order& order)
        : trace_(experiment.trace),
          experiment_(experiment),
          order_(order),
          habits_(order.habits()),
          free_(experiment.machines, experiment.placement),
          live_(experiment.trace.size()) {
        result_.jobs.resize(trace_.size());
    }

    Replay play(const std::function<void(std::size_t)>& progress) {
        while (go_to_next_moment()) {
            take_in();
            carry_out(hand_out(queues_, [&] { return holders(); }, habits_, free_));
            remember();
            if (++result_.events % kEventsBetweenProgress == 0 && progress) progress(finished_);
        }
        return std::move(result_);
    }

  private:
    static std::size_t index(Ticket ticket) { return static_cast<std::size_t>(ticket); }
    const TraceJob& job(Ticket ticket) const { return trace_[index(ticket)]; }
    Live& live(Ticket ticket) { return live_[index(ticket)]; }
    const Live& live(Ticket ticket) const { return live_[index(ticket)]; }
    JobRecord& record(Ticket ticket) { return result_.jobs[index(ticket)]; }

    Standing standing(Ticket ticket) const;
    Duration left_now(const Live& one) const {
        return one.left -
               (one.runs ? std::max(now_ - one.since - one.restart, Duration{}) : Duration{});
    }
    std::vector<Holder> holders() const;

    bool go_to_next_moment();
    bool is_void(const WakeUp& wake_up) const {
        const Live& one = live(wake_up.job);
        return wake_up.turn != one.turn || (!wake_up.is_end && wake_up.at != one.change_at);
    }
    void await_change(Ticket ticket);

    void take_in();
    void arrive(Ticket ticket);
    void change(Ticket ticket);
    void end(Ticket ticket);
    void move_in_queues();

    void carry_out(HandOut result);
    void start(Start& start);
    void leave(Ticket ticket);
    void enqueue(Ticket ticket);
    void dequeue(Ticket ticket);
    void remember();

    const Trace& trace_;
    const Experiment& experiment_;
    Order& order_;
    const Order::Habits habits_;

    TimePoint now_;
    std::size_t next_arrival_ = 0;
    std::priority_queue<WakeUp, std::vector<WakeUp>, std::greater<>> wake_ups_;
    TimePoint common_change_ = kNever;  // of an order that looks at every event

    FreeGpus free_;
    std::vector<Live> live_;
    std::vector<Ticket> running_;  // in order of submission
    Queues queues_;
    std::int32_t waiting_ = 0;
    std::size_t finished_ = 0;
    Replay result_;
};

Standing Player::standing(Ticket ticket) const {
    const Live& one = live(ticket);
    const auto& first_start = result_.jobs[index(ticket)].first_start;
    return {.job = ticket,
            .gpus = job(ticket).gpus,
            .kin = job(ticket).kin,
            .runs = one.runs,
            .submitted = job(ticket).submitted,
            .first_start = first_start ? *first_start : kNever,
            .now = now_,
            .held = one.held + (one.runs ? now_ - one.since : Duration{}),
            .in_state = now_ - one.since,
            .left = left_now(one)};
}

std::vector<Holder> Player::holders() const {
    std::vector<Holder> all;
    all.reserve(running_.size());
    for (const Ticket ticket : running_) {
        all.push_back({{order_.rank(standing(ticket)), ticket}, &live(ticket).gpus});
    }
    return all;
}

// False when nothing will happen any more.
bool Player::go_to_next_moment() {
    while (!wake_ups_.empty() && is_void(wake_ups_.top())) wake_ups_.pop();
    TimePoint next = common_change_;
    if (!wake_ups_.empty()) next = std::min(next, wake_ups_.top().at);
    if (next_arrival_ < trace_.size()) next = std::min(next, trace_[next_arrival_].submitted);
    now_ = next;
    return next != kNever;
}

void Player::await_change(Ticket ticket) {
    if (habits_.looks_at_every_event) return;
    const TimePoint at = order_.next_change(standing(ticket));
    if (at == live(ticket).change_at) return;
    live(ticket).change_at = at;
    if (at != kNever) wake_ups_.push({at, ticket, live(ticket).turn});
}

// All that happens now: ends, submissions, changes of rank.
void Player::take_in() {
    std::vector<Ticket> changed;
    while (!wake_ups_.empty() && wake_ups_.top().at <= now_) {
        const WakeUp due = wake_ups_.top();
        wake_ups_.pop();
        if (is_void(due)) continue;
        if (due.is_end) {
            end(due.job);
        } else {
            changed.push_back(due.job);
        }
    }
    for (; next_arrival_ < trace_.size() && trace_[next_arrival_].submitted <= now_;
         ++next_arrival_) {
        arrive(static_cast<Ticket>(next_arrival_));
    }
    if (habits_.looks_at_every_event) changed = running_;
    for (const Ticket ticket : changed) change(ticket);
    move_in_queues();
}

void Player::arrive(Ticket ticket) {
    live(ticket).left = job(ticket).work;
    live(ticket).since = now_;
    order_.notice(Happening::Submitted, standing(ticket));
    enqueue(ticket);
    await_change(ticket);
}

void Player::change(Ticket ticket) {
    if (record(ticket).end) return;
    live(ticket).change_at = kNever;
    order_.notice(Happening::Changed, standing(ticket));
    if (live(ticket).waits) {
        dequeue(ticket);
        enqueue(ticket);
    }
    await_change(ticket);
}

void Player::end(Ticket ticket) {
    free_.give_back(live(ticket).gpus);
    leave(ticket);
    record(ticket).end = now_;
    ++finished_;
    order_.notice(Happening::Finished, standing(ticket));
}

// Others' doings moved jobs.
void Player::move_in_queues() {
    ordering::Moved moved = order_.moved();
    if (moved.all) {
        moved.jobs = running_;
        for (const auto& [gpus, queue] : queues_) {
            for (const Ranked& one : queue) moved.jobs.push_back(one.job);
        }
    }
    for (const Ticket ticket : moved.jobs) {
        if (live(ticket).waits) {
            dequeue(ticket);
            enqueue(ticket);
        }
        if (live(ticket).waits || live(ticket).runs) await_change(ticket);
    }
}

void Player::carry_out(HandOut result) {
    std::vector<Ticket> started;
    for (const Ticket ticket : result.paused) {
        leave(ticket);
        ++record(ticket).pauses;
    }
    for (Start& one : result.started) {
        started.push_back(one.job);
        start(one);
    }
    order_.settle(started, result.paused);
    for (const Ticket ticket : result.paused) {
        if (!live(ticket).runs) enqueue(ticket);
        await_change(ticket);
    }
    for (const Ticket ticket : started) await_change(ticket);
}

void Player::start(Start& start) {
    Live& one = live(start.job);
    if (one.waits) dequeue(start.job);
    JobRecord& known = record(start.job);
    one.restart = known.first_start ? experiment_.restart_cost : Duration{};
    if (!known.first_start) known.first_start = now_;
    one.runs = true;
    one.since = now_;
    one.gpus = std::move(start.gpus);
    ++one.turn;
    one.change_at = kNever;
    running_.insert(std::ranges::lower_bound(running_, start.job), start.job);
    wake_ups_.push({now_ + one.restart + one.left, start.job, one.turn, true});
}

// It stops running, paused or at its end; its GPUs are given back by others.
void Player::leave(Ticket ticket) {
    Live& one = live(ticket);
    result_.stays.push_back({ticket, one.since, now_, result_.gpus.size()});
    result_.gpus.insert(result_.gpus.end(), one.gpus.begin(), one.gpus.end());
    one.left = left_now(one);
    one.held += now_ - one.since;
    record(ticket).held = one.held;
    one.runs = false;
    one.since = now_;
    ++one.turn;
    one.change_at = kNever;
    running_.erase(std::ranges::lower_bound(running_, ticket));
}

void Player::enqueue(Ticket ticket) {
    if (job(ticket).gpus > experiment_.machines.gpus()) return;  // it can never run
    Live& one = live(ticket);
    one.waits = true;
    one.rank = order_.rank(standing(ticket));
    queues_[job(ticket).gpus].insert({one.rank, ticket});
    ++waiting_;
}

void Player::dequeue(Ticket ticket) {
    live(ticket).waits = false;
    queues_[job(ticket).gpus].erase({live(ticket).rank, ticket});
    --waiting_;
}

void Player::remember() {
    common_change_ = kNever;
    if (habits_.looks_at_every_event) {
        for (const Ticket ticket : running_) {
            common_change_ = std::min(common_change_, order_.next_change(standing(ticket)));
        }
    }
    result_.timeline.push_back({now_, experiment_.machines.gpus() - free_.count(), waiting_});
}

}  // namespace

Replay replay(const Experiment& experiment, Order& order,
              const std::function<void(std::size_t)>& progress) {
    return Player(experiment, order).play(progress);
}

}  // namespace berth::simulation
