// SPDX-License-Identifier: Apache-2.0
#include "control/controller.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "control/launch_order.h"
#include "control/outlook.h"
#include "crash/crash_point.h"
#include "scheduling/explain/order_account.h"

namespace berth::control {
namespace {

// Whether an event can change what a decision would be.
template <typename T>
constexpr bool kMovesCapacity =
    !std::is_same_v<T, model::JobRunning> && !std::is_same_v<T, model::JobStarting> &&
    !std::is_same_v<T, model::JobReserved> && !std::is_same_v<T, model::PauseRequested> &&
    !std::is_same_v<T, model::CheckpointSaved> && !std::is_same_v<T, model::JobUsed>;

template <typename T>
constexpr bool kChangesRoom =
    std::is_same_v<T, model::NodeSet> || std::is_same_v<T, model::NodeMoved> ||
    std::is_same_v<T, model::NodeUsedByOthers> || std::is_same_v<T, model::PoolSet> ||
    std::is_same_v<T, model::ProjectSet> || std::is_same_v<T, model::LevelsSet> ||
    std::is_same_v<T, model::ProjectRemoved> || std::is_same_v<T, model::PolicySet>;

std::optional<model::TimePoint> earlier(std::optional<model::TimePoint> a,
                                        std::optional<model::TimePoint> b) {
    if (!a || !b) return a ? a : b;
    return std::min(*a, *b);
}

// The machine hears anew what those that share a GPU are held to.
void resize_where_caps_change(Transaction& transaction) {
    const auto may_change = [](const model::Event& event) { return may_change_caps(event.body); };
    if (std::ranges::none_of(transaction.batch().events, may_change)) return;
    for (const model::JobId job : sharing_jobs(transaction.state())) transaction.resize(job);
}

}  // namespace

Controller::Controller(Settings settings, Ports ports)
    : settings_(std::move(settings)), ports_(ports), policy_(settings_.policy) {}

void Controller::queue(Inbox::Turn fact, base::Duration within) {
    inbox_.add(std::move(fact), Kind::Fact, {});
    settings_.wake(within);
}

void Controller::queue_command(Inbox::Turn turn, Kind kind, Inbox::Refuse refuse) {
    inbox_.add(std::move(turn), kind, std::move(refuse));
    settings_.wake(base::Duration{0});
}

void Controller::step() {
    if (has_failed()) return;
    room_.look(ports_.store, ports_.clock.now(), !unwritten_);
    const bool may_write = write_unwritten();
    std::vector<Inbox::Turn> turns = inbox_.take(writable(), room_.refusal());
    if (!may_write) return;
    Transaction transaction(state_, unwritten_use_, std::max(ports_.clock.now(), state_.time),
                            turns.size());
    for (Inbox::Turn& turn : turns) turn(transaction);
    for (const model::Event& event : transaction.batch().events) note_change(event.body);
    resize_where_caps_change(transaction);
    if (!room_.shortage()) decide(transaction);
    repeat_stops(transaction);
    if (commit(transaction)) run_effects(transaction);
}

// True when memory is not ahead of the log: nothing else may be written before.
bool Controller::write_unwritten() {
    if (!unwritten_) return true;
    Transaction transaction = std::move(*unwritten_);
    unwritten_.reset();
    if (!commit(transaction)) return false;
    run_effects(transaction);
    return true;
}

Writable Controller::writable() const {
    if (unwritten_ || has_failed()) return Writable::Nothing;
    return room_.shortage() ? Writable::Ends : Writable::All;
}

const std::optional<Shortage>& Controller::shortage() {
    const bool was_short = room_.shortage().has_value();
    room_.look(ports_.store, ports_.clock.now(), !unwritten_);
    if (room_.shortage().has_value() != was_short) settings_.wake(base::Duration{0});
    return room_.shortage();
}

void Controller::note_change(const model::EventBody& body) {
    std::visit(
        [&]<typename T>(const T&) {
            needs_decision_ |= kMovesCapacity<T>;
            if (kChangesRoom<T>) admission_.forget();
        },
        body);
}

// True when everything in the batch is durable. Answers those who wait, either way: a batch that
// was not written may be, later, by the next try or by what the disk has of it after a restart.
bool Controller::commit(Transaction& transaction) {
    const ports::Batch& batch = transaction.batch();
    if (!batch.is_empty()) {
        crash::crash_point("before-commit");
        if (const base::Status written = ports_.store.commit(batch); !written) {
            const base::Error unknown = outcome_unknown(written.error());
            for (const auto& tell : transaction.take_acknowledgements()) tell(&unknown);
            if (written.error().code == base::ErrorCode::Exhausted) {
                room_.begin_shortage(ports_.store, ports_.clock.now());
                unwritten_.emplace(std::move(transaction));
            } else {
                failure_ = unknown;
            }
            return false;
        }
        crash::crash_point("after-commit");
        settings_.committed(batch.events);
        events_since_snapshot_ += static_cast<std::int64_t>(batch.events.size());
    }
    for (const auto& tell : transaction.take_acknowledgements()) tell(nullptr);
    if (!batch.is_empty()) crash::crash_point("after-ack");
    return true;
}

std::optional<model::TimePoint> Controller::next_deadline() const {
    if (unwritten_) return room_.next_look();
    // Nothing is decided without room.
    const bool is_short = room_.shortage().has_value();
    std::optional<model::TimePoint> next = is_short ? room_.next_look() : next_wakeup_;
    if (needs_decision_ && !is_short) next = earlier(next, decide_from_);
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

std::optional<model::OrderAccount> Controller::order_account(model::JobId job) {
    const auto record = state_.jobs.find(job);
    if (record == state_.jobs.end()) return {};
    const model::TimePoint now = std::max(ports_.clock.now(), state_.time);
    return scheduling::order_account(state_.cluster, policy_, now, (*record).second);
}

std::string Controller::lack_of_start(const model::JobRecord& job) const {
    if (job.state != model::JobState::Starting) return {};
    return ports_.launcher.waits_for({job.id, job.attempts});
}

Outlook Controller::outlook(const model::Submission& submission) {
    const model::TimePoint now = std::max(ports_.clock.now(), state_.time);
    return outlook_of({state_, policy_, now}, admission_, memory_, submission.spec);
}

}  // namespace berth::control
