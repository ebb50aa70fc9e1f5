// SPDX-License-Identifier: Apache-2.0
#include "control/changes/request_change.h"

#include <algorithm>
#include <cstdint>

#include "control/launch_order.h"
#include "lifecycle/check.h"
#include "lifecycle/parts.h"
#include "model/job/request_change.h"
#include "scheduling/explain/explain.h"
#include "scheduling/rights/quota_gate.h"

namespace berth::control {
namespace {

base::MilliGpu counted(const cluster::Cluster& cluster, const model::JobRecord& job) {
    base::MilliGpu sum{0};
    for (const model::TaskPlacement& task : job.tasks) sum += cluster.counted(task);
    return sum;
}

std::string bound_text(const cluster::Cluster& cluster, const scheduling::Denial& denial) {
    const std::string& project = cluster.projects()[denial.at.index()].project.name;
    const std::string figures =
        base::format(denial.used) + " of " + base::format(denial.bound) + " GPUs";
    switch (denial.cause) {
        case model::Cause::NonPreemptibleQuotaReached:
            return "jobs of project \"" + project + "\" that cannot be paused use " + figures +
                   " of its quota";
        case model::Cause::SetAsideForFixedQuotas:
            return "what is idle is set aside for the fixed quota of project \"" + project + "\"";
        default: return "project \"" + project + "\" uses " + figures + " of its limit";
    }
}

// It could run here some day.
base::Status check_may_wait(const Changer& changer, const model::JobRecord& job,
                            const model::TaskRequest& request) {
    model::JobSpec spec = job.spec;
    spec.request = request;
    lifecycle::State& state = changer.state;
    const model::JobId unused{state.last_job.value + 1};
    const auto never =
        changer.admission.refusal(state.cluster, changer.policy, state.time, unused, spec);
    if (!never) return {};
    return base::invalid("this job could never run here: " + scheduling::explain_text(*never));
}

// Its project may take what it would have more.
base::Status check_may_grow(const Changer& changer, model::TimePoint now,
                            const model::JobRecord& job, const model::JobRecord& then) {
    cluster::Cluster& cluster = changer.state.cluster;
    const base::MilliGpu more = counted(cluster, then) - counted(cluster, job);
    if (more <= base::MilliGpu{0}) return {};
    const cluster::Job& known = cluster.job(job.id);
    const auto view = scheduling::view_pool(cluster, changer.policy, now, known.pool);
    const auto denial = scheduling::quota_gate(view, known, more, 0);
    if (!denial) return {};
    return base::fail(base::ErrorCode::Conflict, "job " + std::to_string(job.id.value) +
                                                     " cannot have " + base::format(more) +
                                                     " GPUs more: " + bound_text(cluster, *denial));
}

base::Status check_change(const Changer& changer, model::TimePoint now, const model::JobRecord& job,
                          const model::JobRequestSet& set) {
    BERTH_TRY_VOID(lifecycle::check(changer.state, set));
    if (job.tasks.empty() || set.requeue) return check_may_wait(changer, job, set.request);
    const auto then = lifecycle::as_if_asked(changer.state, job, set.request);
    BERTH_TRY_VOID(check_may_grow(changer, now, job, then));
    const auto narrowed = changer.ports.launcher.narrow(
        {{job.id, job.attempts}, {}, task_launches({changer.state.cluster, changer.policy}, then)});
    if (narrowed) return {};
    return base::fail(narrowed.error().code,
                      "job " + std::to_string(job.id.value) +
                          " cannot have that where it runs: " + narrowed.error().message);
}

// Whether the change that was made under the key gave what is wished now.
base::Result<bool> gave(ports::Store& store, const Transaction& transaction, model::JobId job,
                        const std::string& key, const model::RequestChange& change) {
    bool gave = false;
    const auto look = [&](const model::Event& event) {
        const auto* set = std::get_if<model::JobRequestSet>(&event.body);
        if (set == nullptr || set->job != job || set->key != key) return;
        gave = model::changed(set->request, change) == set->request;
    };
    BERTH_TRY_VOID(store.read_events_of(job, 0, INT64_MAX, look));
    std::ranges::for_each(transaction.batch().events, look);
    return gave;
}

}  // namespace

base::Result<std::optional<model::JobRequestSet>> change_of(const Changer& changer,
                                                            const Transaction& transaction,
                                                            const model::JobRecord& job,
                                                            const ChangeOfRequest& wish) {
    // No submission has a key like it.
    const std::string key = wish.key.empty() ? "" : "change\n" + wish.key;
    BERTH_TRY(known, job_with_key(changer.ports.store, transaction, key));
    if (known.is_valid() && known != job.id) {
        return base::fail(base::ErrorCode::Conflict, "idempotency key \"" + wish.key +
                                                         "\" was used to change job " +
                                                         std::to_string(known.value));
    }
    if (known.is_valid()) {
        BERTH_TRY(is_same, gave(changer.ports.store, transaction, job.id, key, wish.change));
        if (is_same) return std::nullopt;
        return base::fail(base::ErrorCode::Conflict,
                          "idempotency key \"" + wish.key +
                              "\" was used for another change of this job; use a new key");
    }
    const model::TaskRequest asked = job.next_request.value_or(job.spec.request);
    model::JobRequestSet set{job.id, model::changed(asked, wish.change), false, key};
    if (set.request == asked) return std::nullopt;
    // Beside a memory, a share of 1 is read as that of the memory.
    if (wish.change.share == base::kWholeGpu && set.request.gpu_memory > base::Bytes{0}) {
        return base::invalid("share: wanted less than 1 beside " +
                             base::format(set.request.gpu_memory) +
                             " of memory, found 1; ask for whole GPUs instead");
    }
    base::Status possible = check_change(changer, transaction.now(), job, set);
    if (!possible && !job.tasks.empty()) {
        set.requeue = true;
        const base::Status elsewhere = check_change(changer, transaction.now(), job, set);
        if (wish.may_requeue) {
            possible = elsewhere;
        } else if (elsewhere) {
            possible.error().message +=
                "; with --requeue it leaves its GPUs and waits until it can have that";
        }
    }
    if (!possible) return tl::unexpected(possible.error());
    if (!set.requeue) set.tasks = lifecycle::as_if_asked(changer.state, job, set.request).tasks;
    return set;
}

base::Result<model::JobId> job_with_key(ports::Store& store, const Transaction& transaction,
                                        const std::string& key) {
    if (key.empty()) return model::JobId{};
    if (const auto now = transaction.job_with_key(key); now.is_valid()) return now;
    BERTH_TRY(stored, store.job_with_key(key, transaction.now() - ports::kKeyKept));
    return stored.value_or(model::JobId{});
}

}  // namespace berth::control
