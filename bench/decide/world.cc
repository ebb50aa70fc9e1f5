// SPDX-License-Identifier: Apache-2.0
#include "bench/decide/world.h"

#include "base/rng.h"
#include "lifecycle/plan_events.h"

namespace berth::bench {

World::World(int node_count) : nodes(node_count) {
    for (int i = 0; i < node_count; ++i) {
        model::Node node;
        node.name = "node" + std::to_string(i);
        node.gpus = kGpusPerNode;
        node.gpu_model = "H100";
        node.gpu_memory = model::Bytes{INT64_C(80) << 30};
        apply({}, model::NodeSet{std::move(node)});
    }
}

void World::apply(model::TimePoint time, model::EventBody body) {
    lifecycle::apply(state, {state.sequence + 1, time, "bench", std::move(body)});
}

void World::add_project(const std::string& name, std::int64_t quota_gpus,
                        const std::string& parent) {
    model::Project project;
    project.name = name;
    project.parent = parent;
    project.order = static_cast<std::int64_t>(state.cluster.projects().size());
    project.rights.quota =
        quota_gpus == kUnboundedQuota ? model::kUnlimited : base::gpus(quota_gpus);
    apply({}, model::ProjectSet{std::move(project)});
}

model::JobSpec World::spec(const std::string& project, int gpus, int tasks) const {
    model::JobSpec spec;
    spec.name = "job";
    spec.project = project;
    spec.tasks_min = spec.tasks_max = tasks;
    spec.request.gpus = gpus;
    return spec;
}

model::JobId World::submit(const model::JobSpec& spec, std::int64_t created_ms) {
    const model::JobId id{++last_job_};
    apply(base::at_ms(created_ms), model::JobSubmitted{id, spec, "ada", "python train.py"});
    return id;
}

void World::has_run_before(model::JobId job) {
    constexpr std::int64_t kLongMs = std::int64_t{1000} * 3600 * 1000;
    auto&& record = state.jobs.at(job);
    record.attained_gpu_ms = kLongMs;
    lifecycle::restore_attained(state, record);
}

void World::run_on(model::JobId job, int node, int first_gpu, int gpus, std::int64_t time_ms) {
    model::TaskPlacement task;
    task.node = {static_cast<model::NodeId::Rep>(node)};
    task.gpu_mask = ((std::uint64_t{1} << gpus) - 1) << first_gpu;
    task.share = base::kWholeGpu;
    apply(base::at_ms(time_ms), model::JobStarting{job, 1, model::Rule::Allocate, {task}});
    apply(base::at_ms(time_ms), model::JobRunning{job});
}

void World::fill_with_one_gpu_jobs(const std::string& project) {
    base::Rng dice(1);
    for (int node = 0; node < nodes; ++node) {
        for (int gpu = 0; gpu < kGpusPerNode; ++gpu) {
            const std::int64_t time = dice.between(0, 30 * 60 * 1000);
            run_on(submit(spec(project, 1), time), node, gpu, 1, time);
        }
    }
}

void World::carry_out(const model::Plan& plan, const model::Policy& policy, model::TimePoint now) {
    for (model::EventBody& event : lifecycle::events_of(state, plan, policy, now)) {
        apply(now, std::move(event));
    }
    for (const model::Start& start : plan.starts) {
        // A job may start by one rule and grow by another.
        const bool is_starting = state.jobs.at(start.job).state == model::JobState::Starting;
        if (is_starting) apply(now, model::JobRunning{start.job});
    }
}

}  // namespace berth::bench
