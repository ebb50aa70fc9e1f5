// SPDX-License-Identifier: Apache-2.0
#include "control/gpu_use/idleness.h"

#include "base/quantity.h"
#include "lifecycle/idle/idle_rule.h"

namespace berth::control {
namespace {

using lifecycle::IdleStep;
using model::IdleAct;

std::string said_of(const model::JobRecord& job, const model::IdleWarning& warning,
                    model::TimePoint now) {
    const std::string id = std::to_string(job.id.value);
    std::string text = "its GPUs have done nothing for " + base::format(now - warning.since);
    if (!warning.acts_at) {
        return text + (warning.why_not.empty() ? "" : "; it is not parked: " + warning.why_not);
    }
    text += "; unless they are used it is " + std::string(done(warning.act)) + " in " +
            base::format(*warning.acts_at - now);
    return text + "; berth keep " + id + " keeps it";
}

std::optional<IdleAct> warn(Transaction& transaction, const model::Policy& policy,
                            const model::JobRecord& job, base::Duration idle) {
    const model::TimePoint now = transaction.now();
    const auto rule = lifecycle::idle_rule(transaction.state().cluster, policy, job.id);
    const IdleStep step = lifecycle::idle_step(job, rule, idle, now);
    if (step == IdleStep::Over) transaction.note(model::JobBusy{job.id}, kMachine);
    if (step != IdleStep::Warn && step != IdleStep::Act) return std::nullopt;
    // To be parked can fail: then it is tried again after as long a time.
    const auto warning = lifecycle::idle_warning(job, *rule, idle, now);
    transaction.note(model::JobIdle{job.id, warning}, kMachine);
    if (step == IdleStep::Act) return warning.act;
    transaction.say({job.id, job.attempts}, said_of(job, warning, now));
    return std::nullopt;
}

}  // namespace

std::optional<IdleAct> take_use(Transaction& transaction, const model::Policy& policy,
                                const model::JobRecord& job, const UseSeen& seen) {
    if (job.state != model::JobState::Running) return std::nullopt;
    transaction.add_use(job, seen);
    if (seen.idle == base::Duration{0} && !job.idle) return std::nullopt;
    return warn(transaction, policy, job, seen.idle);
}

std::string idle_text(const Transaction& transaction, const model::JobRecord& job) {
    const model::TimePoint now = transaction.now();
    const model::TimePoint since = job.idle ? job.idle->since : now;
    return "its GPUs did nothing for " + base::format(now - since) + " (idle_act=end)";
}

}  // namespace berth::control
