// SPDX-License-Identifier: Apache-2.0
#include "scheduling/victims/node_work.h"

#include <algorithm>

#include "base/gpu_time.h"
#include "scheduling/rights/minimum_run.h"

namespace berth::scheduling {
namespace {

// Units that go one by one lose the same with every second, each for itself; but a job that is
// stopped for the first of them loses nothing with the others.
NodeWork::JobPart part_of(const PoolView& view, const cluster::Job& job, NodeId node) {
    const cluster::Shape& shape = view.cluster.shape(job.shape);
    const bool is_one_unit = shape.groups.empty() && job.active <= job.core_tasks();
    NodeWork::JobPart part;
    part.project = job.project;
    part.last_start = job.last_start;
    part.minimum_run = job.min_run;
    part.restart_cost = job.restart_cost;
    MilliGpu on_node{0};
    for (const auto& [place, is_releasing] : job.placed) {
        if (is_releasing) continue;
        if (is_one_unit) part.size.gpus += view.cluster.counted(place);
        if (place.node != node) continue;
        part.gpu_mask |= place.gpu_mask;
        part.is_whole &= place.gpu_mask == 0 || place.share == base::kWholeGpu;
        part.freed = std::min(part.freed + place.share, base::kWholeGpu);
        on_node += place.gpus();
    }
    part.loss = cluster::loss_key(shape, job);
    if (is_one_unit) return part;
    part.size.gpus = on_node > MilliGpu{0} ? MilliGpu{1} : MilliGpu{0};
    part.loss.is_protectable = false;
    part.loss.stopped = job.elastic == model::Elastic::Restart ? MilliGpu{0} : on_node;
    part.loss.restart_gpu_ms = base::gpu_ms(part.loss.stopped, job.restart_cost);
    return part;
}

}  // namespace

TimePoint NodeWork::JobPart::protected_until(const model::Policy& policy) const {
    if (minimum_run != cluster::kOfProject) return last_start + minimum_run;
    return protected_by_policy(policy, last_start, restart_cost);
}

void NodeWork::bring_up_to_date(const PoolView& view) {
    const std::size_t nodes = view.cluster.nodes().size();
    const base::ChangeLog<NodeId>& log = view.cluster.changed_nodes().work;
    gpus_of_.resize(std::max(gpus_of_.size(), view.cluster.projects().size()));
    if (parts_.size() == nodes && log.reaches_back_to(mark_)) {
        log.visit_since(mark_, [&](NodeId node) { look_at(view, node); });
    } else {
        parts_.assign(nodes, {});
        of_jobs_.resize(nodes);
        gpus_of_.assign(gpus_of_.size(), {});
        for (std::size_t at = 0; at < nodes; ++at) look_at(view, {static_cast<NodeId::Rep>(at)});
    }
    mark_ = log.read();
}

void NodeWork::look_at(const PoolView& view, NodeId node) {
    Parts& parts = parts_[node.index()];
    for (const Part& part : parts) gpus_of_[part.project.index()].set(node, 0);
    std::vector<JobPart>& jobs = of_jobs_[node.index()];
    parts.clear();
    jobs.clear();
    visit_victims(view, node, [&](const cluster::Job& job, int gpus) {
        const JobPart& of_job = jobs.emplace_back(part_of(view, job, node));
        auto part = std::ranges::find(parts, job.project, &Part::project);
        if (part == parts.end()) part = parts.insert(part, {job.project});
        part->gpus += gpus;
        part->widest = std::max(part->widest, gpus);
        part->is_whole &= of_job.is_whole;
    });
    for (const Part& part : parts) gpus_of_[part.project.index()].set(node, part.gpus);
    if (std::ranges::all_of(parts, &Part::is_whole)) {
        shared_nodes_.erase(node);
    } else {
        shared_nodes_.insert(node);
    }
}

}  // namespace berth::scheduling
