// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/metrics.h"

#include <cstdint>
#include <string_view>

#include "codec/text/exposition.h"
#include "model/job/job.h"

namespace berth::kube::scheduler {
namespace {

void add_counter(codec::Exposition& metrics, std::string_view name, std::uint64_t count,
                 std::string_view help) {
    metrics.metric(name, "counter", help);
    metrics.sample(static_cast<std::int64_t>(count));
}

void add_jobs(codec::Exposition& metrics, const lifecycle::State& state) {
    metrics.metric("berth_jobs", "gauge", "Gangs and pods that have not ended, by state.");
    for (std::size_t i = 0; i < state.counts.size(); ++i) {
        if (model::is_final(static_cast<model::JobState>(i))) continue;
        metrics.sample("state", model::kJobStateNames[i], state.counts[i]);
    }
}

}  // namespace

std::string metrics_text(const Replica& replica) {
    const Activity done = replica.activity();
    const auto& watches = done.watches;
    std::string text;
    codec::Exposition metrics(text);
    metrics.metric("berth_leads", "gauge", "Whether this replica holds the Lease.");
    metrics.sample(replica.leads() ? 1 : 0);
    metrics.metric("berth_decision_seconds", "histogram", "Time of each decision.");
    done.decisions.append(text, "berth_decision_seconds");
    add_counter(metrics, "berth_pods_bound_total", done.binds.bound, "Pods bound to a node.");
    add_counter(metrics, "berth_binds_refused_total", done.binds.refused,
                "Binds that the API server refused.");
    add_counter(metrics, "berth_binds_unanswered_total", done.binds.unknown,
                "Binds whose answer was lost; the pod is read then.");
    add_counter(metrics, "berth_starts_given_back_total", done.binds.given_back,
                "Starts of gangs that could not be bound whole.");
    add_counter(metrics, "berth_pauses_total", done.pauses, "Gangs and pods that were paused.");
    add_counter(metrics, "berth_lists_total", watches.lists, "Whole lists read of the API server.");
    add_counter(metrics, "berth_watch_events_total", watches.events,
                "Changes that watches reported.");
    add_counter(metrics, "berth_watch_failures_total",
                watches.gone + watches.silent + watches.failures,
                "Lists and watches that broke, or were too old, and began again.");
    const Scheduler* scheduler = replica.scheduler();
    if (scheduler != nullptr && scheduler->is_deciding())
        add_jobs(metrics, scheduler->controller()->state());
    return text;
}

Readiness readiness_of(const Replica& replica) {
    if (const auto failure = replica.failure()) return {false, failure->message};
    if (std::string trouble = replica.trouble(); !trouble.empty()) return {false, trouble};
    const Scheduler* scheduler = replica.scheduler();
    if (scheduler != nullptr && scheduler->is_deciding()) return {true, "leads, and decides"};
    if (replica.leads()) return {false, "leads, and reads what exists"};
    if (replica.other_leader().empty()) return {false, "asks who leads"};
    return {true, "waits: " + replica.other_leader() + " leads"};
}

}  // namespace berth::kube::scheduler
