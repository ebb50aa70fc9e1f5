// SPDX-License-Identifier: Apache-2.0
#include "control/admission.h"

#include <cstring>

#include "cluster/gang.h"
#include "model/task_groups.h"
#include "scheduling/explain.h"

namespace berth::control {
namespace {

using cluster::Cluster;
using model::Cause;
using model::Reason;
using model::Verdict;

constexpr std::size_t kRememberedMax = 10'000;

void append(std::string& key, std::int64_t number) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    key.append(bytes, sizeof bytes);
}

void append(std::string& key, const std::string& text) {
    append(key, static_cast<std::int64_t>(text.size()));
    key += text;
}

void append_host(std::string& key, const model::TaskRequest& request) {
    append(key, request.cpu.value_or(model::MilliCpu{-1}).value);
    append(key, request.memory.value_or(model::Bytes{-1}).value);
    for (const auto& [name, amount] : request.resources) {
        append(key, name);
        append(key, amount);
    }
}

// Of a job or a kind of companions.
void append_wishes(std::string& key, const auto& wisher) {
    for (const auto& [name, value] : wisher.node_labels) {
        append(key, name);
        append(key, value);
    }
    append(key, format(wisher.node_filter));
    for (const model::Toleration& each : wisher.tolerations) append(key, format(each));
}

// All that the answer depends on.
void write_key(std::string& key, const model::JobSpec& spec) {
    key.clear();
    append(key, spec.project);
    append(key, spec.preemptible ? 1 : 0);
    append(key, spec.tasks_min);
    append(key, spec.request.gpus);
    append(key, spec.request.share.value);
    append(key, spec.request.gpu_memory.value);
    append(key, spec.may_share ? 1 : 0);
    append_host(key, spec.request);
    append(key, spec.gpu_model);
    append(key, spec.topology.required);
    append(key, model::format_task_groups(spec.topology.groups));
    for (const std::string& pool : spec.pools) append(key, pool);
    append(key, -1);
    append_wishes(key, spec);
    for (const model::Companion& kind : spec.companions) {
        append(key, -1);
        append(key, kind.count);
        append_host(key, kind.request);
        append_wishes(key, kind);
    }
}

// Whether it would be above a limit of CPU or memory although nothing else ran.
bool above_host_limit(const cluster::Claim& claim, const cluster::HostAsk& asks, Verdict& verdict) {
    const auto& cpu = claim.rights.cpu_limit;
    const auto& memory = claim.rights.memory_limit;
    const std::int64_t bytes = asks.mebibytes << 20;
    if (cpu && asks.cpu > cpu->value) {
        verdict.because(Cause::CpuLimitReached);
        verdict.host_asks = asks.cpu;
        verdict.host_used = claim.usage.host.cpu;
        verdict.host_bound = cpu->value;
    } else if (memory && bytes > memory->value) {
        verdict.because(Cause::MemoryLimitReached);
        verdict.host_asks = bytes;
        verdict.host_used = claim.usage.host.mebibytes << 20;
        verdict.host_bound = memory->value;
    } else {
        return false;
    }
    return true;
}

// The bound of the project, or of one above it, that the request alone exceeds.
std::optional<Verdict> above_bounds(const Cluster& cluster, const cluster::Job& job,
                                    Verdict verdict) {
    const base::PoolId pool = cluster.pools_of(job).front();
    const base::MilliGpu asks = cluster.most(job.shape, pool) * job.tasks_min;
    for (base::ProjectId at = job.project; at != cluster::kRoot;
         at = cluster.projects()[at.index()].parent) {
        const cluster::Claim& claim = cluster.claim(pool, at);
        if (above_host_limit(claim, cluster::stated_together(cluster, job, job.tasks_min),
                             verdict)) {
            verdict.scope = cluster.projects()[at.index()].project.name;
            return verdict;
        }
        const bool above_quota = !job.preemptible && asks > claim.quota;
        if (asks <= claim.limit && !above_quota) continue;
        const bool is_fixed = claim.rights.kind == model::QuotaKind::Fixed;
        verdict.because(asks <= claim.limit ? Cause::NonPreemptibleQuotaReached
                        : is_fixed          ? Cause::FixedQuotaReached
                                            : Cause::LimitReached);
        verdict.scope = cluster.projects()[at.index()].project.name;
        verdict.used = asks <= claim.limit ? claim.usage.not_preemptible : claim.usage.allocated;
        verdict.bound = asks <= claim.limit ? claim.quota : claim.limit;
        verdict.asks = asks;
        return verdict;
    }
    return {};
}

std::optional<Verdict> refusal_in_pool(Cluster& cluster, const model::Policy& policy,
                                       model::TimePoint now, model::JobId id,
                                       const model::JobSpec& spec) {
    cluster.add_job(id, spec, now);
    const Verdict verdict = scheduling::explain(cluster, policy, {}, now, id);
    auto refused = above_bounds(cluster, cluster.job(id), verdict);
    cluster.remove_job(id);
    switch (verdict.reason) {
        case Reason::Invalid:
        case Reason::NeverFits:
        case Reason::ModelMismatch: return verdict;
        default: return refused;
    }
}

}  // namespace

std::optional<Verdict> Admission::refusal(Cluster& cluster, const model::Policy& policy,
                                          model::TimePoint now, model::JobId id,
                                          const model::JobSpec& spec) {
    write_key(key_, spec);
    if (accepted_.contains(key_)) return {};
    std::optional<Verdict> first;
    model::JobSpec one_pool = spec;
    for (std::size_t i = 0; i < std::max<std::size_t>(spec.pools.size(), 1); ++i) {
        if (!spec.pools.empty()) one_pool.pools = {spec.pools[i]};
        const auto refused = refusal_in_pool(cluster, policy, now, id, one_pool);
        if (!refused) {
            if (accepted_.size() >= kRememberedMax) accepted_.clear();
            accepted_.insert(key_);
            return {};
        }
        if (!first) first = refused;
    }
    return first;
}

}  // namespace berth::control
