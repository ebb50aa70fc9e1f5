// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/metrics.h"

#include <cstdint>
#include <string_view>

#include "model/job/job.h"

namespace berth::kube::scheduler {
namespace {

void begin_metric(std::string& text, std::string_view name, std::string_view type,
                  std::string_view help) {
    text += "# HELP " + std::string(name) + " " + std::string(help) + "\n";
    text += "# TYPE " + std::string(name) + " " + std::string(type) + "\n";
}

void add_counter(std::string& text, std::string_view name, std::uint64_t count,
                 std::string_view help) {
    begin_metric(text, name, "counter", help);
    text += std::string(name) + " " + std::to_string(count) + "\n";
}

void add_jobs(std::string& text, const lifecycle::State& state) {
    begin_metric(text, "berth_jobs", "gauge", "Gangs and pods that have not ended, by state.");
    for (std::size_t i = 0; i < state.counts.size(); ++i) {
        if (model::is_final(static_cast<model::JobState>(i))) continue;
        text += "berth_jobs{state=\"" + std::string(model::kJobStateNames[i]) + "\"} " +
                std::to_string(state.counts[i]) + "\n";
    }
}

}  // namespace

std::string metrics_text(const Replica& replica) {
    const Activity done = replica.activity();
    const auto& watches = done.watches;
    std::string text;
    begin_metric(text, "berth_leads", "gauge", "Whether this replica holds the Lease.");
    text += std::string("berth_leads ") + (replica.leads() ? "1" : "0") + "\n";
    begin_metric(text, "berth_decision_seconds", "histogram", "Time of each decision.");
    done.decisions.append(text, "berth_decision_seconds");
    add_counter(text, "berth_pods_bound_total", done.binds.bound, "Pods bound to a node.");
    add_counter(text, "berth_binds_refused_total", done.binds.refused,
                "Binds that the API server refused.");
    add_counter(text, "berth_binds_unanswered_total", done.binds.unknown,
                "Binds whose answer was lost; the pod is read then.");
    add_counter(text, "berth_starts_given_back_total", done.binds.given_back,
                "Starts of gangs that could not be bound whole.");
    add_counter(text, "berth_pauses_total", done.pauses, "Gangs and pods that were paused.");
    add_counter(text, "berth_lists_total", watches.lists, "Whole lists read of the API server.");
    add_counter(text, "berth_watch_events_total", watches.events, "Changes that watches reported.");
    add_counter(text, "berth_watch_failures_total",
                watches.gone + watches.silent + watches.failures,
                "Lists and watches that broke, or were too old, and began again.");
    const Scheduler* scheduler = replica.scheduler();
    if (scheduler != nullptr && scheduler->is_deciding())
        add_jobs(text, scheduler->controller()->state());
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
