// SPDX-License-Identifier: Apache-2.0
//
// What do monitoring and probes read of a server? Numbers, and whether it does its part. None of
// them names a user or a job.
#include "api/answers/routes.h"
#include "base/quantity.h"
#include "codec/text/exposition.h"
#include "overview/overview.h"

namespace berth::api {
namespace {

void add_gpus(codec::Exposition& metrics, const overview::GpuCounts& gpus) {
    metrics.metric("berth_gpus", "gauge", "GPUs by what they do; the sum is all there are.");
    metrics.sample("state", "used", base::format(gpus.used));
    metrics.sample("state", "starting", base::format(gpus.starting));
    metrics.sample("state", "leaving", base::format(gpus.leaving));
    metrics.sample("state", "idle", base::format(gpus.idle));
    metrics.sample("state", "not_ready", base::format(gpus.not_ready));
    metrics.metric("berth_idle_gpus_together", "gauge", "The most whole idle GPUs of one node.");
    metrics.sample(gpus.idle_together);
}

void add_jobs(codec::Exposition& metrics, const lifecycle::State& state) {
    metrics.metric("berth_jobs", "gauge", "Jobs that have not ended, by state.");
    for (std::size_t i = 0; i < state.counts.size(); ++i) {
        if (model::is_final(static_cast<model::JobState>(i))) continue;
        metrics.sample("state", model::kJobStateNames[i], state.counts[i]);
    }
}

void add_projects(codec::Exposition& metrics, const std::vector<overview::ProjectUse>& projects) {
    struct Amount {
        std::string_view name;
        std::string_view help;
        base::MilliGpu overview::ProjectUse::* of;
    };
    using Use = overview::ProjectUse;
    constexpr Amount kAmounts[] = {
        {"berth_project_quota_gpus", "GPUs guaranteed to the project.", &Use::quota},
        {"berth_project_used_gpus", "GPUs that its jobs have, or are promised.", &Use::used},
        {"berth_project_wanted_gpus", "GPUs that its jobs wait for.", &Use::wanted},
        {"berth_project_above_quota_gpus", "GPUs that it uses above its quota.", &Use::borrowed}};
    for (const Amount& amount : kAmounts) {
        metrics.metric(amount.name, "gauge", amount.help);
        for (const Use& use : projects) {
            metrics.sample("project", use.name, base::format(use.*amount.of));
        }
    }
}

}  // namespace

void get_metrics(Site& site, Call call) {
    const lifecycle::State& state = site.controller.state();
    const overview::Overview seen = overview::overview_of(state);
    std::string text;
    codec::Exposition metrics(text);
    metrics.metric("berth_info", "gauge", "The server's version.");
    metrics.sample("version", site.facts.version, 1);
    add_gpus(metrics, seen.gpus);
    add_jobs(metrics, state);
    add_projects(metrics, seen.projects);
    metrics.metric("berth_events_total", "counter", "Events of the log.");
    metrics.sample(state.sequence);
    metrics.metric("berth_storage_free_bytes", "gauge", "Room for the log and for checkpoints.");
    metrics.sample(site.store.room().free.value);
    metrics.metric("berth_storage_full", "gauge", "Whether new jobs are refused for want of it.");
    metrics.sample(site.controller.shortage() ? 1 : 0);
    call.respond({200, std::move(text), std::string(codec::kExpositionType), {}});
}

void get_health(Site&, Call call) { call.respond(text_page(200, "ok\n")); }

void get_readiness(Site& site, Call call) {
    const auto& shortage = site.controller.shortage();
    if (!shortage) return call.respond(text_page(200, "decides, and takes jobs\n"));
    call.respond(text_page(503, "takes no jobs: there is no room for its log\n"));
}

}  // namespace berth::api
