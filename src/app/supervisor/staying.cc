// SPDX-License-Identifier: Apache-2.0
//
// How does an attempt give back GPU memory that it borrowed? Its arbiter orders it off its GPUs
// (vgpu/ledger/stay.h); it is frozen as for a pause, or else saves and ends, and comes back when
// the arbiter has kept room for all it held. Its server has no part in that and need not be there.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "app/supervisor/supervisor.h"
#include "vgpu/ledger/stay.h"

namespace berth::supervisor {

using supervision::Descriptor;
using supervision::FrameType;
using supervision::StopKind;
using vgpu::ledger::Move;
using vgpu::ledger::Stay;

namespace {

constexpr std::int64_t kReachAgainMs = 200;
// Leaving its GPUs may take this long.
constexpr std::int64_t kLeaveMs = 60'000;
// The job before may take this long to leave the GPUs.
constexpr std::int64_t kRoomMs = 60'000;
// Where it has to save and end instead, others wait for it: its own grace, but no longer than this.
constexpr std::int64_t kGraceMaxMs = 30'000;

}  // namespace

void Supervisor::reach_arbiter() {
    if (order_.arbiter.empty() || phase_ != Phase::Running) return;
    reach_again_.reset();
    arbiter_.reset(vgpu::ledger::connect_supervisor(order_.arbiter));
    if (!arbiter_.is_open()) {
        reach_again_ = monotonic_ms() + kReachAgainMs;
        return;
    }
    report_stay();
}

void Supervisor::serve_arbiter() {
    bool has_gone = false;
    const auto order = vgpu::ledger::next_move(arbiter_.get(), has_gone);
    if (has_gone) {
        arbiter_.reset();
        reach_again_ = monotonic_ms() + kReachAgainMs;
    }
    if (!order) return;
    if (order->move == Move::leave) leave();
    if (order->move == Move::come_back && hold_ == Hold::Frozen && (is_lent_ || wants_back_))
        come_back();
    if (order->move == Move::idle)
        tell(Role::Server, FrameType::Idle, supervision::pack_number(order->idle_ms));
    if (order->move == Move::wake && hold_ == Hold::Frozen && is_parked_) {
        is_waking_ = true;
        tell(Role::Server, FrameType::Waking, {});
    }
}

// A report that is lost with its arbiter is made again to the next one.
void Supervisor::report_stay() {
    if (!arbiter_.is_open()) return;
    vgpu::ledger::StayReport report;
    Stay stay = Stay::here;
    if (hold_ == Hold::Freezing) stay = Stay::leaving;
    if (hold_ == Hold::Thawing) stay = Stay::off;
    if (hold_ == Hold::Frozen) {
        stay = is_lent_ || wants_back_ ? Stay::off : is_parked_ ? Stay::parked : Stay::away;
    }
    report.stay = static_cast<std::uint32_t>(stay);
    if (const auto answer = supervision::unpack_answer(frozen_); answer && stay != Stay::here)
        report.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, answer->bytes));
    vgpu::ledger::report_stay(arbiter_.get(), report);
}

void Supervisor::leave() {
    const bool can_be = phase_ == Phase::Running && running_tasks_ > 0 && !is_killing_;
    if (hold_ != Hold::None || !can_be) return;
    // One that is asked to save and end already gives everything back.
    if (stop_asked_) return;
    is_lent_ = true;
    if (order_.freezer.empty()) return end_for_others();
    asked_meanwhile_.reset();
    ask_freezer(Hold::Freezing, kLeaveMs);
}

void Supervisor::come_back() {
    // Where it only lent its place it goes back to that.
    if (is_lent_) {
        place_.clear();
        for (const supervision::TaskOrder& task : order_.tasks) place_.push_back(task.gpu_indices);
    }
    asked_meanwhile_.reset();
    ask_freezer(Hold::Thawing, kRoomMs);
}

// In the log, where its user looks why it stands still.
void Supervisor::note(const std::string& text) {
    const std::string line = "berth: " + text + '\n';
    for (const supervision::TaskOrder& task : order_.tasks) {
        const std::string path = supervision::log_path(order_.file_prefix, task.rank);
        const Descriptor log(::open(path.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
        // A log that takes no more loses a remark.
        [[maybe_unused]] const ssize_t size = ::write(log.get(), line.data(), line.size());
    }
    tell(Role::Client, supervision::FrameType::ErrorOutput, line);
}

void Supervisor::end_for_others() {
    lent_note_ = "gave back GPU memory that it had borrowed";
    stop({StopKind::Restart, std::min(order_.grace_ms, kGraceMaxMs)});
}

}  // namespace berth::supervisor
