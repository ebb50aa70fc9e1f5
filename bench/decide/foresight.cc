// SPDX-License-Identifier: Apache-2.0
//
// What do the questions cost that are answered on copies? Every GPU is taken by a one-GPU job, two
// jobs for each node wait; of the first that waits is asked its suggestion, of another one when it
// starts, and of the cluster what a quota of 64 GPUs would change. (A change for which thousands of
// jobs are paused costs what that decision costs.)
#include "bench/decide/measure.h"
#include "bench/decide/world.h"
#include "foresight/what_if.h"
#include "scheduling/explain/explain.h"
#include "scheduling/explain/forecast.h"
#include "scheduling/explain/suggestion.h"

namespace berth::bench {
namespace {

constexpr int kProjects = 20;

void foresight(Run& run) {
    World world(run.nodes);
    const std::int64_t capacity = std::int64_t{run.nodes} * kGpusPerNode;
    world.add_project("busy", capacity);
    for (int i = 0; i < kProjects; ++i) world.add_project("waits" + std::to_string(i), 0);
    world.fill_with_one_gpu_jobs("busy");
    for (int i = 0; i < 2 * run.nodes; ++i) {
        world.submit(world.spec("waits" + std::to_string(i % kProjects), 1 + i % kGpusPerNode), i);
    }
    cluster::Cluster& cluster = world.state.cluster;
    const model::JobId first{capacity + 1};
    const model::JobId job{capacity + 4};
    const auto verdict = scheduling::explain(cluster, run.policy, {}, kNow, first);
    const model::JobSpec spec = world.state.jobs.at(first).spec;
    std::optional<model::Suggestion> suggestion;
    run.measure("one copy of the cluster", 1, [&] { const cluster::Cluster copy = cluster; });
    run.measure("suggestion", 1, [&] {
        suggestion = scheduling::find_suggestion(cluster, run.policy, kNow, verdict, spec,
                                                 scheduling::tries_for(cluster));
    });
    run.expect(suggestion.has_value(), "a suggestion");
    const auto work = [](model::JobId) {
        return model::RunTime{model::Duration{3'600'000}, {}, model::Evidence::Declared};
    };
    run.measure("estimate", 1, [&] {
        (void)scheduling::estimate_starts(cluster, run.policy, kNow, work,
                                          scheduling::bounds_for(cluster), std::span(&job, 1));
    });
    const model::Hypothesis larger{
        .what = model::Supposition::Quota, .name = "waits0", .gpus = base::gpus(64)};
    run.measure("what-if", 1, [&] {
        const auto compared =
            foresight::what_if(world.state, std::span(&larger, 1), run.policy, kNow);
        run.expect(compared.has_value() && !compared->what_if.jobs.empty(), "a difference");
    });
}

}  // namespace

void add_foresight(std::map<std::string, Scenario>& scenarios) {
    scenarios["foresight"] = foresight;
}

}  // namespace berth::bench
