// SPDX-License-Identifier: Apache-2.0
//
// How does a server continue where the last one ended? The newest snapshot and the events behind
// it give the state; then every attempt that may still run is taken up, and every stop that was
// ordered is ordered again.
#include <algorithm>

#include "control/controller.h"
#include "control/launch_order.h"
#include "lifecycle/check.h"

namespace berth::control {
namespace {

constexpr std::int64_t kEventsAtOnce = 10'000;

}  // namespace

base::Status Controller::recover() {
    BERTH_TRY(snapshot, ports_.store.latest_snapshot());
    if (snapshot) state_ = lifecycle::restore(*snapshot);
    BERTH_TRY_VOID(replay());
    BERTH_TRY_VOID(follow_policy());
    // First of all, so that whatever is started from now on carries the new name and is ordered as
    // this server was started.
    Transaction transaction(state_, unwritten_use_, std::max(ports_.clock.now(), state_.time), 1);
    if (auto begins = ports_.store.begins()) {
        begins->order = policy_.order;
        BERTH_TRY_VOID(transaction.record(*std::move(begins), kMachine));
    } else if (policy_.order != cluster::order_rules(state_.cluster, cluster::kRoot)) {
        BERTH_TRY_VOID(transaction.record(model::PolicySet{{}, policy_.order}, kMachine));
    }
    if (!transaction.batch().is_empty()) {
        BERTH_TRY_VOID(ports_.store.commit(transaction.batch()));
    }
    needs_decision_ = true;
    ports_.launcher.set_listener(this);
    take_up_attempts();
    return {};
}

base::Status Controller::replay() {
    for (bool is_done = false; !is_done;) {
        base::Status wrong;
        std::int64_t count = 0;
        const auto fold = [&](model::Event&& event) {
            ++count;
            if (!wrong) return;
            if (event.sequence != state_.sequence + 1) {
                wrong =
                    base::fail(base::ErrorCode::Internal,
                               "the log continues with event " + std::to_string(event.sequence) +
                                   " after " + std::to_string(state_.sequence));
                return;
            }
            if (auto done = lifecycle::replay(state_, event); !done) {
                wrong = tl::unexpected(std::move(done.error()));
            }
        };
        BERTH_TRY_VOID(ports_.store.read_events(state_.sequence, kEventsAtOnce, fold));
        if (!wrong) {
            return base::fail(base::ErrorCode::Internal,
                              "event " + std::to_string(state_.sequence + 1) +
                                  " of the log is impossible: " + wrong.error().message);
        }
        events_since_snapshot_ += count;
        is_done = count < kEventsAtOnce;
    }
    return {};
}

base::Status Controller::follow_policy() {
    BERTH_TRY(policy, model::changed_policy(settings_.policy, state_.policy));
    policy_ = policy;
    memory_.forget();
    return {};
}

void Controller::take_up_attempts() {
    const model::TimePoint now = std::max(ports_.clock.now(), state_.time);
    ports_.launcher.recover(begun_attempts(state_, policy_));
    for (const auto& [id, job] : state_.jobs) {
        const bool pauses = job.state == model::JobState::Pausing || job.is_resizing();
        if (!pauses && job.state != model::JobState::Cancelling) continue;
        const model::TimePoint deadline =
            !job.releasing.empty() && pauses && job.last_pause
                ? job.last_pause->deadline
                : now + job.spec.pause_grace.value_or(policy_.pause_grace);
        const base::Duration grace = std::max(deadline - now, base::Duration{0});
        // One that is promised another place moves there.
        const bool restarts = job.is_resizing() || !job.is_of_one_piece() ||
                              !job.reserved.empty() || job.next_request;
        const auto pause = restarts ? ports::StopReason::Restart : ports::StopReason::Pause;
        const StopOrder order{
            {id, job.attempts}, pauses ? pause : ports::StopReason::Cancel, grace};
        stopping_[id] = {order, now + grace};
        ports_.launcher.stop(order.attempt, order.reason, order.grace);
    }
}

}  // namespace berth::control
