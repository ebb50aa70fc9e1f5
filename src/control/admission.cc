// SPDX-License-Identifier: Apache-2.0
#include "control/admission.h"

#include <cstring>

#include "cluster/gang.h"
#include "model/fields/job_fields.h"
#include "scheduling/explain/explain.h"
#include "scheduling/rights/quota_gate.h"

namespace berth::control {
namespace {

using cluster::Cluster;
using model::Cause;
using model::Reason;
using model::Verdict;

constexpr std::size_t kRememberedMax = 10'000;

// Different values make different texts.
template <typename T>
void append(std::string& key, const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
        const auto number = static_cast<std::int64_t>(value);
        char bytes[sizeof number];
        std::memcpy(bytes, &number, sizeof number);
        key.append(bytes, sizeof bytes);
    } else if constexpr (std::is_same_v<T, std::string>) {
        append(key, value.size());
        key += value;
    } else if constexpr (requires { value.has_value(); }) {
        append(key, value.has_value());
        if (value) append(key, *value);
    } else if constexpr (requires { value.size(); }) {
        append(key, value.size());
        for (const auto& each : value) append(key, each);
    } else if constexpr (requires { value.second; }) {
        append(key, value.first);
        append(key, value.second);
    } else if constexpr (requires { value.value + 0; }) {
        append(key, value.value);
    } else if constexpr (requires { value.count(); }) {
        append(key, value.count());
    } else {
        model::Fields<T>::visit([&](std::string_view, auto part) { append(key, value.*part); });
    }
}

// All that the answer depends on, where it is not as usual.
void write_key(std::string& key, const model::JobSpec& spec) {
    static const model::JobSpec kUsual;
    key.clear();
    int number = 0;
    model::Fields<model::JobSpec>::visit_fields([&](const model::JobField& field, auto member) {
        ++number;
        if (!model::is_asked(field.reads) || spec.*member == kUsual.*member) return;
        append(key, number);
        append(key, spec.*member);
    });
}

// The bound of CPU or memory that it would pass although nothing else ran.
std::optional<scheduling::Denial> above_host_bounds(const cluster::Claim& claim,
                                                    const cluster::Job& job,
                                                    const cluster::HostAsk& asks) {
    using scheduling::HostBound;
    const auto denial = [&](HostBound bound, const cluster::HostAsk& used) {
        const auto alone = scheduling::host_denial(claim.rights, bound, {}, asks);
        return alone ? scheduling::host_denial(claim.rights, bound, used, asks) : alone;
    };
    const auto above_limit = denial(HostBound::Limit, claim.usage.host);
    if (above_limit || job.preemptible) return above_limit;
    return denial(HostBound::QuotaForNotPreemptible, claim.usage.host_not_preemptible);
}

// The bound of the project, or of one above it, that the request alone exceeds.
std::optional<Verdict> above_bounds(const Cluster& cluster, const cluster::Job& job,
                                    Verdict verdict) {
    const base::PoolId pool = cluster.pools_of(job).front();
    const base::MilliGpu asks =
        cluster.most_gpus(job.shape, pool) * job.tasks_min +
        cluster::gpus_of_lacking_companions(cluster, job, pool, &Cluster::most_gpus);
    for (base::ProjectId at = job.project; at != cluster::kRoot;
         at = cluster.projects()[at.index()].parent) {
        const cluster::Claim& claim = cluster.claim(pool, at);
        const auto asks_host = cluster::stated_together(cluster, job, job.tasks_min);
        if (const auto denial = above_host_bounds(claim, job, asks_host)) {
            verdict.because(denial->cause);
            verdict.host_asks = denial->host.asks;
            verdict.host_used = denial->host.used;
            verdict.host_bound = denial->host.bound;
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
