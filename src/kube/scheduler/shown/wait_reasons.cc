// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/shown/wait_reasons.h"

#include <algorithm>
#include <utility>

#include "codec/words/timestamp.h"
#include "kube/client/writes.h"
#include "kube/cluster/asks.h"
#include "kube/cluster/parts.h"
#include "scheduling/explain/explain.h"

namespace berth::kube::scheduler {
namespace {

constexpr base::Duration kTick = std::chrono::milliseconds(500);
constexpr base::Duration kNumbersKept = std::chrono::minutes(1);
// Until what the server did not take is written again.
constexpr base::Duration kTellAgain = std::chrono::seconds(2);
// A gang whose pods do not come says so after that.
constexpr base::Duration kComesWithin = std::chrono::seconds(10);
constexpr const char* kUnschedulable = "Unschedulable";
constexpr const char* kOverQuota = "QuotaExceeded";
// With more requests than that on the way binds would wait.
constexpr std::size_t kBusy = 16;

std::string why_protected(const objects::DisruptionBudget& budget) {
    const std::string name = "PodDisruptionBudget \"" + budget.meta.name + "\"";
    if (budget.problem.empty()) return name + " selects its pods";
    return name + " cannot be read: " + budget.problem;
}

}  // namespace

WaitReasons::WaitReasons(client::Requests& requests, client::Timers& timers,
                         const ports::Clock& clock, control::Controller& controller,
                         const cluster::Gangs& gangs, const cluster::Budgets& budgets,
                         const GangJobs& jobs)
    : requests_(requests),
      timers_(timers),
      clock_(clock),
      controller_(controller),
      gangs_(gangs),
      budgets_(budgets),
      jobs_(jobs),
      timer_(timers) {
    timer_.start(kTick, [this] { tick(); });
}

void WaitReasons::look_at(Uid uid) {
    const cluster::Gang* gang = gangs_.find(uid);
    if (gang == nullptr || gang->waiting().empty()) {
        waiting_.erase(uid);
    } else {
        waiting_.try_emplace(uid, Waiting{timers_.now()});
    }
}

void WaitReasons::tick() {
    constexpr int kTicks = std::chrono::seconds(1) / kTick;
    int writes = kReasonsPerSecond / kTicks;
    int looks = std::min<int>(kLooksPerSecond / kTicks, static_cast<int>(waiting_.size()));
    for (auto at = waiting_.upper_bound(last_); looks > 0 && writes > 0; --looks, ++at) {
        if (requests_.under_way() > kBusy) break;
        if (at == waiting_.end()) at = waiting_.begin();
        last_ = at->first;
        // Who has only just come may start with the next decision.
        const bool is_new = timers_.now() - at->second.since < kTick;
        if (!is_new && tell_if_new(at->first, at->second)) --writes;
    }
    timer_.start(kTick, [this] { tick(); });
}

// A quota may be in the way only because the gang may not be paused.
std::optional<WaitReasons::Reason> WaitReasons::reason_of(const cluster::Gang& gang,
                                                          base::TimePoint since) const {
    std::optional<Reason> reason = decided(gang, since);
    if (!reason || reason->reason != kOverQuota || !cluster::may_be_paused(gang)) return reason;
    const objects::DisruptionBudget* budget = budgets_.protector_of(gang);
    if (budget == nullptr) return reason;
    reason->key += " " + budget->meta.name;
    reason->message += "; it cannot be paused because " + why_protected(*budget);
    return reason;
}

std::optional<WaitReasons::Reason> WaitReasons::decided(const cluster::Gang& gang,
                                                        base::TimePoint since) const {
    const std::string refusal = jobs_.refusal_of(gang.uid);
    const char* word = jobs_.is_over_quota(gang.uid) ? kOverQuota : kUnschedulable;
    if (!refusal.empty()) return Reason{word, "refused", refusal};
    const auto job = jobs_.job_of(gang.uid);
    if (!job) return missing(gang, timers_.now() - since);
    const auto verdict = controller_.why(*job);
    const model::JobRecord* record = controller_.state().jobs.get(*job);
    if (record != nullptr && record->state == model::JobState::Running)
        return growth(gang, *record, verdict);
    if (!verdict || verdict->reason == model::Reason::Starting) return {};
    return reason_by(*verdict, "");
}

WaitReasons::Reason WaitReasons::reason_by(const model::Verdict& verdict,
                                           const std::string& before) {
    return {is_about_quota(verdict.reason) ? kOverQuota : kUnschedulable,
            before + std::string(model::name(verdict.reason)) + " " + verdict.scope,
            before + scheduling::explain_text(verdict)};
}

// Why it has not all its pods although it runs.
std::optional<WaitReasons::Reason> WaitReasons::growth(
    const cluster::Gang& gang, const model::JobRecord& job,
    const std::optional<model::Verdict>& verdict) const {
    const int runs = controller_.state().cluster.job(job.id).active;
    if (runs < job.spec.tasks_max) {
        if (!verdict || verdict->reason == model::Reason::Starting) return {};
        return reason_by(*verdict, std::to_string(runs) + " of its " +
                                       std::to_string(job.spec.tasks_max) +
                                       " pods run; for one more: ");
    }
    const auto asks = cluster::spec_of(*gang.waiting().front()->ask);
    if (!asks) return Reason{kUnschedulable, "refused", asks.error().message};
    if (cluster::is_part_of(job.spec, *asks))
        return Reason{kUnschedulable, "replaces", "it replaces a pod that is terminating"};
    return Reason{kUnschedulable, "unlike",
                  "its request differs from the running pods of its gang; they are placed "
                  "together when the gang is suspended and resumed"};
}

// Why it is not handed in: it is not whole. Its pods may come one by one.
std::optional<WaitReasons::Reason> WaitReasons::missing(const cluster::Gang& gang,
                                                        base::Duration waited) {
    if (std::string trouble = gang.trouble(); !trouble.empty())
        return Reason{kUnschedulable, "trouble", std::move(trouble)};
    if (gang.is_complete() || waited < kComesWithin) return {};
    if (gang.is_owned && gang.workload == nullptr)
        return Reason{kUnschedulable, "no owner", "the owner that it names does not exist"};
    return Reason{kUnschedulable, "not whole",
                  std::to_string(gang.waiting().size()) + " of its " +
                      std::to_string(gang.pods_wanted()) + " pods exist; it starts when all do"};
}

bool WaitReasons::tell_if_new(Uid uid, Waiting& waiting) {
    const cluster::Gang* gang = gangs_.find(uid);
    if (gang == nullptr) return false;  // gone, and not looked at since
    const auto pods = gang->waiting();
    auto reason = pods.empty() ? std::nullopt : reason_of(*gang, waiting.since);
    if (!reason) return false;
    const objects::Pod& first = *pods.front();
    std::string pod = objects::format(first.meta.uid);
    if (waiting.pod == pod) {
        if (!waiting.is_taken && timers_.now() - waiting.written_at < kTellAgain) return false;
        const bool is_same =
            waiting.what.key == reason->key && waiting.what.reason == reason->reason;
        const bool is_fresh = timers_.now() - waiting.written_at < kNumbersKept;
        const bool is_known = waiting.what.message == reason->message || (is_same && is_fresh);
        if (waiting.is_taken && is_known) return false;
    }
    requests_.send(
        client::tell_wait({*first.meta.name_space, first.meta.name, pod},
                          {reason->reason, reason->message, codec::format_time(clock_.now())}),
        [this, here = std::weak_ptr(is_here_), uid,
         written_at = timers_.now()](const auto& outcome) {
            if (!here.expired() && !outcome.is_done()) note_not_taken(uid, written_at);
        });
    waiting = {waiting.since, std::move(pod), std::move(*reason), timers_.now()};
    return true;
}

void WaitReasons::note_not_taken(Uid uid, base::TimePoint written_at) {
    const auto found = waiting_.find(uid);
    if (found != waiting_.end() && found->second.written_at == written_at)
        found->second.is_taken = false;
}

}  // namespace berth::kube::scheduler
