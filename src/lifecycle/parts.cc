// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/parts.h"

#include <algorithm>
#include <set>
#include <string>

#include "cluster/jobs/in_place.h"
#include "model/job/packing.h"

namespace berth::lifecycle {
namespace {

using base::Status;
using model::JobState;

// What is hardest for it among the nodes on which it may run, or runs: the least memory of a GPU
// and the largest context. No memory where one of them does not say how much it has.
model::Node smallest_gpu(const State& state, const model::JobRecord& record) {
    const cluster::Cluster& cluster = state.cluster;
    const cluster::Job& job = cluster.job(record.id);
    const auto pools = cluster.pools_of(job);
    std::optional<model::Node> smallest;
    std::set<std::uint16_t> seen;
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        const cluster::NodeState& node = cluster.nodes()[i];
        const model::NodeId id{static_cast<model::NodeId::Rep>(i)};
        const bool is_there = !record.tasks.empty() && record.tasks.front().node == id;
        const bool may_run = std::ranges::find(pools, node.pool) != pools.end() &&
                             cluster.allows(job.shape, node.kind);
        if ((!may_run && !is_there) || !seen.insert(node.kind).second) continue;
        model::Node kind = cluster.description(id);
        kind.gpu_context = std::max(kind.gpu_context, smallest.value_or(kind).gpu_context);
        if (smallest && memory_left_by_driver(*smallest) <= memory_left_by_driver(kind)) {
            smallest->gpu_context = kind.gpu_context;
        } else {
            smallest = std::move(kind);
        }
    }
    return smallest.value_or(model::Node{});
}

std::optional<model::GpuPart> part_by_profile(const State& state, const model::JobRecord& record) {
    if (record.is_parted || state.profiles.is_parted(record)) return {};
    const model::GpuProfile* profile = state.profiles.of(record);
    if (profile == nullptr) return {};
    return model::packed_part(*profile, smallest_gpu(state, record));
}

tl::unexpected<base::Error> cannot(const model::JobRecord& job, const std::string& why) {
    return base::fail(base::ErrorCode::Conflict, "job " + std::to_string(job.id.value) + " " + why);
}

std::string gpus_text(int gpus) {
    return std::to_string(gpus) + (gpus == 1 ? " GPU" : " GPUs") + " for each task";
}

// "GPU 2 of node n1 has room for at most 0.75+60G".
std::string room_text(const cluster::Cluster& cluster, const cluster::InPlace& place) {
    const std::string node = "node " + cluster.node_name(place.node);
    switch (place.lacks) {
        case cluster::InPlace::Lacks::Cpu: return node + " has no CPUs left for that";
        case cluster::InPlace::Lacks::HostMemory: return node + " has no host memory left for that";
        default: break;
    }
    const base::Bytes all = cluster.whole_gpu(place.node).memory;
    const auto part = model::format_part(place.largest_part,
                                         model::part_rounded_up(place.largest_part.memory, all));
    return "GPU " + std::to_string(place.gpu) + " of " + node + " has room for at most " + part;
}

Status check_frozen(const State& state, const model::JobRecord& job,
                    const model::TaskRequest& request) {
    if (request.gpus != job.spec.request.gpus) {
        return cannot(job, "is kept off its GPUs with its processes, which know " +
                               gpus_text(job.spec.request.gpus));
    }
    base::Bytes room{0};
    for (const model::TaskPlacement& task : job.frozen) {
        const auto part = cluster::task_of(state.cluster, request, task.node, task.gpu_mask);
        if (part.gpu_memory == base::Bytes{0}) return {};
        room += part.gpu_memory * request.gpus;
    }
    const bool is_known = job.last_pause && job.last_pause->frozen;
    const base::Bytes held = is_known ? job.last_pause->frozen->gpu_memory : base::Bytes{0};
    if (held <= room) return {};
    return cannot(job, "is kept off its GPUs with " + base::format(held) +
                           " of GPU memory, more than " + base::format(room));
}

Status check_in_place(const State& state, const model::JobRecord& job,
                      const model::TaskRequest& request) {
    if (!job.releasing.empty()) return cannot(job, "is asked to leave its GPUs; wait until it has");
    if (job.is_resizing()) return cannot(job, "changes its number of tasks; wait until it has");
    if (request.gpus != job.spec.request.gpus) {
        return cannot(job, "runs with " + gpus_text(job.spec.request.gpus) +
                               ", which stay as many until it has left them");
    }
    const auto place = cluster::in_place(state.cluster, state.cluster.job(job.id), request);
    if (place.lacks == cluster::InPlace::Lacks::Nothing) return {};
    return cannot(job, "cannot have that where it runs: " + room_text(state.cluster, place));
}

}  // namespace

std::optional<std::optional<model::GpuPart>> change_of_part(const State& state,
                                                            const model::JobRecord& record) {
    if (!record.spec.may_share) return {};
    const bool is_settled = record.releasing.empty() && record.reserved.empty() &&
                            record.frozen.empty() && record.state != model::JobState::Cancelling;
    if (!is_settled || (!record.tasks.empty() && record.spec.packed)) return {};
    auto part = part_by_profile(state, record);
    if (part == record.spec.packed) return {};
    return part;
}

void pack(State& state, model::JobRecord& record, const std::optional<model::GpuPart>& part) {
    record.spec.packed = part;
    count_as_asked(state, record);
}

Status check_request_change(const State& state, const model::JobRecord& job,
                            const model::JobRequestSet& set) {
    if (job.state == JobState::Cancelling) return cannot(job, "is being cancelled");
    if (job.spec.may_share) {
        return cannot(job, "may share its GPU with another: its part is measured, not set");
    }
    if (job.tasks.empty())
        return job.frozen.empty() ? Status{} : check_frozen(state, job, set.request);
    return set.requeue ? Status{} : check_in_place(state, job, set.request);
}

void count_as_asked(State& state, model::JobRecord& record) {
    state.cluster.set_request(record.id, model::asked(record.spec));
    const auto& placed = state.cluster.job(record.id).placed;
    for (model::TaskPlacement& task : record.tasks) {
        const auto same = [&](const cluster::PlacedTask& one) {
            return one.place.task == task.task;
        };
        task = std::ranges::find_if(placed, same)->place;
    }
}

model::JobRecord as_if_asked(const State& state, model::JobRecord record,
                             const model::TaskRequest& request) {
    record.spec.request = request;
    const cluster::Job& job = state.cluster.job(record.id);
    for (model::TaskPlacement& task : record.tasks) {
        if (job.is_companion(task.task)) continue;
        const int rank = task.task;
        task = cluster::task_of(state.cluster, request, task.node, task.gpu_mask);
        task.task = rank;
    }
    return record;
}

}  // namespace berth::lifecycle
