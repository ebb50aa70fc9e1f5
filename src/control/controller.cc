// SPDX-License-Identifier: Apache-2.0
#include "control/controller.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "crash/crash_point.h"
#include "scheduling/cycle.h"
#include "scheduling/explain.h"

namespace berth::control {
namespace {

// Whether an event can change what a decision would be.
template <typename T>
constexpr bool kMovesCapacity =
    !std::is_same_v<T, model::JobRunning> && !std::is_same_v<T, model::JobStarting> &&
    !std::is_same_v<T, model::JobReserved> && !std::is_same_v<T, model::PauseRequested> &&
    !std::is_same_v<T, model::CheckpointSaved>;

template <typename T>
constexpr bool kChangesRoom =
    std::is_same_v<T, model::NodeSet> || std::is_same_v<T, model::NodeMoved> ||
    std::is_same_v<T, model::PoolSet> || std::is_same_v<T, model::ProjectSet> ||
    std::is_same_v<T, model::LevelsSet> || std::is_same_v<T, model::ProjectRemoved> ||
    std::is_same_v<T, model::PolicySet>;

std::optional<model::TimePoint> earlier(std::optional<model::TimePoint> a,
                                        std::optional<model::TimePoint> b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

}  // namespace

Controller::Controller(Settings settings, Ports ports)
    : settings_(std::move(settings)), ports_(ports), policy_(settings_.policy) {}

void Controller::queue(Turn turn, base::Duration within) {
    queue_.push_back(std::move(turn));
    settings_.wake(within);
}

void Controller::step() {
    if (has_failed()) return;
    const std::vector<Turn> turns = std::exchange(queue_, {});
    Transaction transaction(state_, std::max(ports_.clock.now(), state_.time), turns.size());
    for (const Turn& turn : turns) turn(transaction);
    for (const model::Event& event : transaction.batch().events) note_change(event.body);
    decide(transaction);
    repeat_stops(transaction);
    if (commit(transaction)) run_effects(transaction);
}

void Controller::note_change(const model::EventBody& body) {
    std::visit(
        [&]<typename T>(const T&) {
            needs_decision_ |= kMovesCapacity<T>;
            if (kChangesRoom<T>) admission_.forget();
        },
        body);
}

// True when everything in the batch is durable. Tells those who wait, either way.
bool Controller::commit(const Transaction& transaction) {
    const ports::Batch& batch = transaction.batch();
    if (!batch.is_empty()) {
        crash::crash_point("before-commit");
        if (const base::Status written = ports_.store.commit(batch); !written) {
            failure_ = base::Error{base::ErrorCode::Unavailable,
                                   "the event log cannot be written: " + written.error().message};
            for (const auto& tell : transaction.acknowledgements()) tell(&*failure_);
            return false;
        }
        crash::crash_point("after-commit");
        settings_.committed(batch.events);
        events_since_snapshot_ += static_cast<std::int64_t>(batch.events.size());
    }
    for (const auto& tell : transaction.acknowledgements()) tell(nullptr);
    if (!batch.is_empty()) crash::crash_point("after-ack");
    return true;
}

std::optional<model::TimePoint> Controller::next_deadline() const {
    std::optional<model::TimePoint> next = next_wakeup_;
    if (needs_decision_) next = earlier(next, decide_from_);
    for (const auto& [job, stopping] : stopping_) {
        next = earlier(next, stopping.deadline + kStopPatience);
    }
    return next;
}

base::Status Controller::write_snapshot() {
    crash::crash_point("before-snapshot");
    BERTH_TRY_VOID(ports_.store.write_snapshot(lifecycle::snapshot(state_)));
    crash::crash_point("after-snapshot");
    events_since_snapshot_ = 0;
    return {};
}

std::optional<model::Verdict> Controller::why(model::JobId job) {
    return verdicts_.why(state_, policy_, std::max(ports_.clock.now(), state_.time), job);
}

Outlook Controller::outlook(const model::Submission& submission) {
    const model::TimePoint now = std::max(ports_.clock.now(), state_.time);
    const model::JobId id{state_.last_job.value + 1};
    Outlook outlook;
    if (const auto refused =
            admission_.refusal(state_.cluster, policy_, now, id, submission.spec)) {
        outlook.verdict = *refused;
        outlook.can_run = false;
        return outlook;
    }
    state_.cluster.add_job(id, submission.spec, now);
    const model::Plan plan = scheduling::decide(state_.cluster, policy_, now, memory_);
    outlook.verdict = scheduling::explain(state_.cluster, policy_, plan, now, id);
    state_.cluster.remove_job(id);
    outlook.starts_now = outlook.verdict.reason == model::Reason::Starting;
    std::ranges::copy_if(plan.pauses, std::back_inserter(outlook.pauses),
                         [&](const model::Pause& pause) { return pause.beneficiary == id; });
    std::ranges::copy_if(plan.moves, std::back_inserter(outlook.moves),
                         [&](const model::Move& move) { return move.beneficiary == id; });
    return outlook;
}

}  // namespace berth::control
