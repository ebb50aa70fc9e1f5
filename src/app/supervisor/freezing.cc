// SPDX-License-Identifier: Apache-2.0
//
// How does an attempt come off its GPUs with its processes alive, and back? By the freezer of its
// node (vgpu/freezer), as the answer to a pause; where that cannot be, it is asked to save and stop
// like any other. The freezer may die and come again: it is asked again, until the deadline.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "app/supervisor/supervisor.h"
#include "runtime/sockets.h"

namespace berth::supervisor {

using supervision::FrameType;
using supervision::FreezerAnswer;
using supervision::FreezerOutcome;
using supervision::StopKind;
using supervision::StopRequest;

namespace {

constexpr std::int64_t kAskAgainMs = 25;
// A freezer that was never reached in this time is not there. It comes back with the server; who
// only gives back memory can wait longer for it than a job waits for a pause.
constexpr std::int64_t kReachMs = 5'000;
constexpr std::int64_t kReachLentMs = 30'000;
// Queued work may take this long, and no more than half of the grace: the other half is for
// saving, should it not end.
constexpr std::int64_t kQueuedWorkMs = 10'000;
// A job to be parked should have none; meanwhile its other calls wait, and no other job waits for
// it.
constexpr std::int64_t kQueuedWorkIdleMs = 250;

std::vector<int> indices(const std::string& list) {
    std::vector<int> all;
    for (std::size_t at = 0; at < list.size(); at = list.find(',', at) + 1) {
        int index = -1;
        std::from_chars(list.data() + at, list.data() + list.size(), index);
        all.push_back(index);
        if (list.find(',', at) == std::string::npos) break;
    }
    return all;
}

constexpr std::int64_t kParkMs = 60'000;

}  // namespace

// No job waits for its GPUs, so that nothing is forced.
void Supervisor::park() {
    const bool can_be = phase_ == Phase::Running && running_tasks_ > 0 && !is_killing_;
    if (hold_ != Hold::None || !can_be || stop_asked_ || order_.freezer.empty()) return;
    is_parked_ = true;
    asked_meanwhile_.reset();
    ask_freezer(Hold::Freezing, kParkMs);
}

// Whether the request is served without ending anything.
bool Supervisor::serve_frozen(const StopRequest& request) {
    // Where it is off already it cannot save, and need not.
    const bool is_off = is_lent_ || is_parked_;
    const bool keeps =
        request.kind == StopKind::Pause || (is_off && request.kind == StopKind::Restart);
    const bool ends = !keeps || request.grace_ms <= 0;
    switch (hold_) {
        case Hold::None:
            if (ends || order_.freezer.empty() || stop_asked_ || is_killing_) return false;
            if (phase_ != Phase::Running || running_tasks_ == 0) return false;
            ask_freezer(Hold::Freezing, request.grace_ms);
            asked_meanwhile_ = request;
            return true;
        case Hold::Freezing:
            // A freezer that was not found is looked for no longer.
            if (!was_freezer_reached_ && !is_lent_ && request.kind != StopKind::Pause) {
                give_up_freezing();
                return false;
            }
            [[fallthrough]];
        case Hold::Thawing:
            asked_meanwhile_ = request;  // as soon as the freezer has answered
            return true;
        case Hold::Frozen:
            if (ends) return false;
            is_lent_ = wants_back_ = false;
            report_stay();
            tell(Role::Server, FrameType::Frozen, frozen_);
            return true;
    }
    return false;
}

void Supervisor::give_up_freezing() {
    hold_ = Hold::None;
    is_parked_ = false;
    freezer_deadline_.reset();
    ask_again_.reset();
    asked_meanwhile_.reset();
    order_.freezer.clear();
    report_stay();
}

void Supervisor::ask_freezer(Hold hold, std::int64_t time_ms) {
    hold_ = hold;
    freezer_began_ = monotonic_ms();
    freezer_deadline_ = freezer_began_ + time_ms;
    was_freezer_reached_ = false;
    if (hold == Hold::Freezing) report_stay();
    send_to_freezer();
}

void Supervisor::send_to_freezer() {
    ask_again_ = monotonic_ms() + kAskAgainMs;
    auto socket = runtime::connect_to(order_.freezer, runtime::SocketKind::Stream);
    if (!socket) return;
    ask_again_.reset();
    was_freezer_reached_ = true;
    Connection& freezer = peers_.emplace_back(std::move(*socket), Role::Freezer);
    const std::int64_t left = std::max<std::int64_t>(1, *freezer_deadline_ - monotonic_ms());
    if (hold_ == Hold::Freezing) {
        const std::int64_t queued = is_parked_ ? kQueuedWorkIdleMs : kQueuedWorkMs;
        freezer.send(FrameType::Freeze,
                     pack(supervision::FreezeRequest{std::min(left / 2, queued), is_parked_}));
    } else {
        // With time left to hear why not.
        freezer.send(FrameType::Thaw,
                     pack(supervision::ThawRequest{left / 2, moves_to(place_), is_parked_}));
    }
    if (!freezer.flush()) freezer.lose();
}

std::vector<supervision::GpuMove> Supervisor::moves_to(const supervision::GpuLists& place) const {
    std::vector<supervision::GpuMove> moves;
    for (std::size_t task = 0; task < std::min(place.size(), order_.tasks.size()); ++task) {
        const std::vector<int> from = indices(order_.tasks[task].gpu_indices);
        const std::vector<int> to = indices(place[task]);
        for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) {
            const supervision::GpuMove move{from[i], to[i]};
            // Tasks may share a GPU.
            if (std::ranges::find(moves, move) == moves.end()) moves.push_back(move);
        }
    }
    return moves;
}

void Supervisor::resume(supervision::GpuLists place) {
    if (hold_ == Hold::Frozen) {
        place_ = std::move(place);
        wants_back_ = true;
        if (!order_.arbiter.empty()) return report_stay();  // who says when there is room
        return come_back();
    }
    // It was asked before, by a server that did not live to hear the answer.
    if (hold_ == Hold::None && was_running_)
        tell(Role::Server, FrameType::Running, supervision::pack_number(::getpid()));
}

void Supervisor::take_answer(const FreezerAnswer& answer) {
    const bool was_freezing = hold_ == Hold::Freezing;
    if (!was_freezing && hold_ != Hold::Thawing) return;
    const std::int64_t left = *freezer_deadline_ - monotonic_ms();
    if (answer.outcome == FreezerOutcome::Lost) {
        return lose(was_freezing ? "it could not be taken off its GPUs: " + answer.reason
                                 : "it could not be put back on its GPUs: " + answer.reason);
    }
    if (answer.outcome == FreezerOutcome::Undone && !was_freezing) {
        end_note_ = answer.reason;
        ask_again_ = monotonic_ms() + kAskAgainMs;
        return;
    }
    freezer_deadline_.reset();
    ask_again_.reset();
    end_note_.clear();
    std::optional<StopRequest> next = std::exchange(asked_meanwhile_, {});
    if (answer.outcome == FreezerOutcome::Undone && is_parked_) {
        hold_ = Hold::None;
        is_parked_ = false;
        report_stay();
        note("not parked: " + answer.reason);
    } else if (answer.outcome == FreezerOutcome::Undone) {
        hold_ = Hold::None;
        refusal_ = answer.reason;
        order_.freezer.clear();  // it saves and stops now, or ends
        if (is_lent_ && !next) return end_for_others();
        if (next && next->kind == StopKind::Pause) next->grace_ms = std::max<std::int64_t>(1, left);
    } else if (was_freezing) {
        hold_ = Hold::Frozen;
        frozen_ = pack(answer);
        write_status("frozen " + std::to_string(answer.bytes) + '\n');
        if (is_parked_) {
            note("parked: off its GPUs until its next call to one");
            report_stay();
        }
        const bool is_off = is_lent_ || is_parked_;
        if (next && (next->kind == StopKind::Pause || is_off)) return stop(*next);  // that was it
        if (is_lent_) {
            note("off its GPU: others need the memory that it borrowed");
            return report_stay();
        }
        tell(Role::Server, FrameType::Frozen, frozen_);
    } else {
        hold_ = Hold::None;
        if (is_lent_) note("on its GPU again");
        if (is_parked_) note("on its GPUs again");
        is_lent_ = wants_back_ = is_parked_ = is_waking_ = false;
        report_stay();
        note_other_gpus();
        for (std::size_t task = 0; task < std::min(place_.size(), order_.tasks.size()); ++task)
            order_.tasks[task].gpu_indices = place_[task];
        write_status("running again\n");
        tell(Role::Server, FrameType::Running, supervision::pack_number(::getpid()));
    }
    if (next) stop(*next);
}

// The driver shows the processes that came back the GPUs that they had. One that is started now
// reads CUDA_VISIBLE_DEVICES, which no process can change from outside but for the interposer's
// tenants.
void Supervisor::note_other_gpus() {
    if (!order_.arbiter.empty()) return;
    for (std::size_t task = 0; task < std::min(place_.size(), order_.tasks.size()); ++task) {
        const std::string& before = order_.tasks[task].gpu_indices;
        if (before == place_[task]) continue;
        note("task " + std::to_string(task) + " is on GPU " + place_[task] + " now, no more on " +
             before + ": CUDA_VISIBLE_DEVICES of programs that it starts from now on still names " +
             "the old ones; let it set " + place_[task] +
             ", or submit such jobs with BERTH_PROFILE=1 in their environment");
    }
}

// It can neither go on nor save: its next attempt begins where it saved last.
void Supervisor::lose(const std::string& why) {
    hold_ = Hold::None;
    freezer_deadline_.reset();
    ask_again_.reset();
    stop_asked_ = killed_ = true;
    end_note_ = why;
    kill_all();
}

void Supervisor::on_freezer_deadline() {
    const std::int64_t now = monotonic_ms();
    if (ask_again_ && *ask_again_ <= now) {
        const std::int64_t patience = is_lent_ ? kReachLentMs : kReachMs;
        if (!was_freezer_reached_ && now >= freezer_began_ + patience && hold_ == Hold::Freezing)
            return take_answer({FreezerOutcome::Undone, "the freezer cannot be reached", -1, 0});
        send_to_freezer();
    }
    if (!freezer_deadline_ || *freezer_deadline_ > now) return;
    if (hold_ == Hold::Freezing) return lose("the freezer did not take it off its GPUs in time");
    lose("the freezer did not put it back on its GPUs in time" +
         (end_note_.empty() ? "" : ": " + end_note_));
}

}  // namespace berth::supervisor
